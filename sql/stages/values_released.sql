-- Whose each released row is, and what models look at: a part of
-- anonymize('t', k=5, l=3, sensitive=['disease'], entity='patient_id').
SELECT ${of_part}__kanon_combination AS combination,
                             decode(encode(__kanon_key(${entity}))) AS entity,
                             decode(encode(__kanon_key(${column}))) AS label,
                             __kanon_value(${column}) AS sorted,
                             (__kanon_cell(${column})).number AS number
                      FROM __kanon_labelled JOIN __kanon_combinations USING (__kanon_class)
