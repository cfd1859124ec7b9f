"""From a file to an answer: what the commands do, for use without a command line too."""
