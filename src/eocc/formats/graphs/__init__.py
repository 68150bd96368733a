"""Labelled graphs in files: GXL with CXL indices, node-link JSON, SMILES."""
