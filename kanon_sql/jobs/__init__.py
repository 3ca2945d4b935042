"""Long work: waiting for it, stopping it, showing how far it is."""
