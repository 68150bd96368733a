"""Data files, and the model file."""
