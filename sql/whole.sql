-- name: classes
-- The combinations of released values: a part of anonymize('t', k=5, max_average_risk=0.1).
count(__kanon_size)

-- name: rows
-- The released rows: a part of anonymize('t', k=5, max_average_risk=0.1).
coalesce(sum(__kanon_size), 0)

-- name: persons
-- The persons of the released rows, in each part anew: a part of
-- anonymize('t', k=5, max_average_risk=0.1, entity='patient_id').
(SELECT coming FROM __kanon_persons)

-- name: refused
-- Refuses a release that misses a demand on all classes together: a part of
-- anonymize('t', k=5, max_average_risk=0.1).
coalesce(${broken}, true)
    THEN __kanon_refuse('ReleaseError', format(${said}, ${classes}, (${persons})::BIGINT))
