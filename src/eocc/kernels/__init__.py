"""Compiled inner loops: plain arrays in, plain arrays out.

Kernels do not validate, draw random numbers or know an estimator. Ties are broken deterministically. Arguments that the
kernel uses as temporary memory are called scratch. Named tuples that kernels take are defined here, because compiled
kernels name them. ``tests/oracles`` has slow, readable versions.
"""
