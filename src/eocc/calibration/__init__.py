"""Held-out targets -> thresholds and p-values."""
