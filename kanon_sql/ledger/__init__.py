"""Repeated releases: who may be shown again, and in which class."""
