-- How many crowds don't keep their models: a part of
-- anonymize('t', k=5, entity='id', ledger='releases', l=2, sensitive=['disease']).
__kanon_models_of_crowds AS MATERIALIZED (
    SELECT max(broken) AS broken FROM (${models})
),
