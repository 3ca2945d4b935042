"""``kanon explore``: roles, hierarchies and k chosen on a page of this machine."""
