"""What any release lost, read from what it published."""
