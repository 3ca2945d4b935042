-- What classes release where a column looks like an identifier: nothing of it. A part of
-- anonymize('t', k=5).
SELECT __kanon_class, __kanon_shown(COLUMNS(* EXCLUDE (__kanon_class, __kanon_hidden)), __kanon_hidden)
    FROM (${classes})
    CROSS JOIN (SELECT list_transform(grouped.hidden, lambda name: __kanon_caseless(name)) AS __kanon_hidden
                FROM __kanon_grouped)
