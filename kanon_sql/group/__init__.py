"""One grouping from beginning to end: warm up, blocks, method, refinement."""
