"""How far classes are from what the privacy models demand."""
