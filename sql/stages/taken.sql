-- The first column with a name that the query, or the release, needs for itself: a part of
-- anonymize('t', k=5).
(SELECT list_filter(names, lambda name: starts_with(__kanon_caseless(name), '__kanon_')${reserved})[1]
 FROM __kanon_names)
