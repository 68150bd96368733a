"""Distances to the nearest normal rows -> how surprising a row is."""
