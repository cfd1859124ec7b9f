"""Experiments: protocols, records, statistics and published figures."""
