"""Regions of one shape: coordinates, shape, cuts of the spanning tree, memberships."""
