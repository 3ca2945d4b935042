"""A page on your own machine to choose roles, hierarchies and k, and its server."""
