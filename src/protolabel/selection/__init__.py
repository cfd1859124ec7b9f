"""Choosing hyper-parameters without ever looking at the rows that results are reported on."""
