"""The comparing methods of the paper, one file each, under one contract."""
