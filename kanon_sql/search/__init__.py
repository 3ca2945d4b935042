"""Nearest, within, furthest: spatial searches over points."""
