-- The columns without a role, and what is said of them: a part of
-- anonymize('t', k=5, quasi_identifiers=['age']).
(SELECT CASE WHEN len(names) > 0 THEN format(${said},
        CASE WHEN len(names) = 1 THEN '1 column has'
             ELSE concat(len(names), ' columns have') END,
        concat('''', array_to_string(names[1:${listed}], ''', '''), ''''),
        CASE WHEN len(names) > ${listed} THEN concat(' and ', len(names) - ${listed}, ' more')
             ELSE '' END) END
 FROM (SELECT list_filter(names, lambda name: NOT list_contains(${ruled}, __kanon_caseless(name))) AS names
       FROM __kanon_names))
