"""Held-out targets -> thresholds and p-values; order statistics of many numbers."""
