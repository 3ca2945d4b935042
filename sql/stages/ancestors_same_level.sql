-- The label of a class at the level that full_domain chose for all of them, an error where a class
-- has several there: a part of
-- anonymize('t', k=5, recoding='global', hierarchies={'zip': 'prefix'}).
CASE
        WHEN list_contains((SELECT grouped.hidden FROM __kanon_grouped), ${name}) THEN NULL
        WHEN ${level} IS NULL OR encode(low.path[${level} + 1]) <> encode(high.path[${level} + 1])
            OR (span.known < span.total AND ${level} < (SELECT len(paths[1]) - 1 FROM __kanon_tree_${i})
                AND span.known > 0) THEN __kanon_refuse('ReleaseError', ${mixed})
        WHEN span.known > 0 THEN low.path[${level} + 1]
        WHEN ${level} = (SELECT len(paths[1]) - 1 FROM __kanon_tree_${i})
            THEN (SELECT paths[1][${level} + 1] FROM __kanon_tree_${i}) END
