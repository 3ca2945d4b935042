-- Refuses a release that misses a model: a part of anonymize('t', k=5, l=3, sensitive=['disease']).
coalesce((SELECT broken FROM __kanon_models WHERE model = ${j}), 1) > 0
    THEN __kanon_refuse('ReleaseError', concat(
        'The release was stopped: ', (SELECT broken FROM __kanon_models WHERE model = ${j}), ${said}))
