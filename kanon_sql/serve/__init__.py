"""Releases and calls for any client of DuckDB, over DuckDB's own remote protocol (Quack).

Two servers, each a DuckDB of its own: that of readers holds copies of stored releases and nothing
else; that of analysts has the declared tables behind views. Every statement passes a gate that
knows the few statements that are answered, and refuses all others.
"""
