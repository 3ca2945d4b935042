-- How many combinations of released values don't keep each model, and what the worst has: a part of
-- anonymize('t', k=5, l=3, sensitive=['disease']).
__kanon_models AS MATERIALIZED (
    ${models}
),
