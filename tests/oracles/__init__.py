"""Slow, readable twins of the kernels and stages, written from the definitions alone."""
