"""The commands of the shell, each a module with a function of its name."""
