"""What a release lost, and the metrics that tell it."""
