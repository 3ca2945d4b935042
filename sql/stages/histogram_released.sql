-- How often each sensitive value is in each combination of released values; encoded: without
-- collation. A part of
-- anonymize('t', k=5, l=3, sensitive=['disease']).
SELECT ${of_part}__kanon_combination AS combination, decode(encode(__kanon_key(${column}))) AS label,
           min(__kanon_value(${column})) AS sorted, min((__kanon_cell(${column})).number) AS number,
           count(*) AS size
    FROM __kanon_labelled JOIN __kanon_combinations USING (__kanon_class)
    GROUP BY ${by_part}__kanon_combination, decode(encode(__kanon_key(${column})))
