"""Where a release goes: never over what is read, whole or not at all, and told in one sentence."""
