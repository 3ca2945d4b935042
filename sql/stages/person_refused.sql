-- Refuses a release that has not what it promises of persons: a part of
-- anonymize('t', k=5, entity='patient_id').
coalesce((SELECT ${broken} FROM __kanon_persons), true)
    THEN __kanon_refuse('ReleaseError', format(
        ${said}, (SELECT ${found} FROM __kanon_persons)))
