"""The command line: one command a file, no logic of its own."""
