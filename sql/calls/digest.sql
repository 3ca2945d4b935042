-- The digest of the rows of a relation, whatever their order, for Python: one value.
WITH ${sound}
SELECT (${digest}) AS digest FROM __kanon_sound WHERE __kanon_sound.sound
