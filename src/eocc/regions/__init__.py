"""Clusters -> fuzzy decision regions -> membership, score, decision."""
