-- The same of one model; a combination that its stage lacks doesn't keep it, either: a part of
-- anonymize('t', k=5, l=3, sensitive=['disease']).
SELECT ${j} AS model, ${worst} AS has, (SELECT count(*) FROM __kanon_sizes)
    - (SELECT count(*) FILTER (WHERE passes) FROM ${stage}) AS broken FROM ${stage}
