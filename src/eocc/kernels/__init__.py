"""Compiled inner loops: plain arrays in, plain arrays out.

Nothing here validates, allocates more than it must, draws random numbers or knows an estimator.
Every kernel has a slow, readable twin in ``tests/oracles``.
"""
