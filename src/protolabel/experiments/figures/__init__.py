"""Drawings of results by matplotlib, which is loaded only when something is drawn."""
