-- How many crowds of a release don't keep a model; one that its stage lacks doesn't keep it, either:
-- a part of anonymize('t', k=5, entity='id', ledger='releases', l=2, sensitive=['disease']).
SELECT (SELECT count(DISTINCT combination) FROM __kanon_members)
        - (SELECT count(*) FILTER (WHERE passes) FROM ${stage}) AS broken
