-- The label of the lowest common ancestor of a class: a part of
-- anonymize('t', k=5, hierarchies={'zip': 'prefix'}).
CASE
        WHEN span.known = 0 THEN NULL
        WHEN span.known < span.total THEN low.path[len(low.path)]
        ELSE low.path[list_filter(
            range(1, len(low.path) + 1),
            lambda level: encode(low.path[level]) = encode(high.path[level]))[1]] END
