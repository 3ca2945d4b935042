"""Generalization hierarchies: trees over the values of a column."""
