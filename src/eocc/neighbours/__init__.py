"""Rows -> their nearest neighbours."""
