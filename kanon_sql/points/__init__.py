"""What kernels work on: records as points, their losses, their order by content."""
