"""Engines: what computes the units of a run, here or elsewhere."""
