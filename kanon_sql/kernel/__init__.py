"""How kernels are compiled, watched and run in parallel."""
