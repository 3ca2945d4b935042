"""What a call says: its relation, roles and options, read and checked."""
