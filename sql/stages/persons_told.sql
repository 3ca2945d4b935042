-- What each column that passes tells of persons, and those that tell nearly all of them apart: a part
-- of anonymize('t', k=5, entity='patient_id').
__kanon_told AS MATERIALIZED (
    SELECT [*COLUMNS(*)] AS told
    FROM (SELECT __kanon_of_persons(COLUMNS(* EXCLUDE (__kanon_whose)), ${least})
          FROM (SELECT __kanon_whose, __kanon_of_person(COLUMNS(* EXCLUDE (__kanon_whose)))
                FROM (SELECT decode(encode(__kanon_key(${entity}))) AS __kanon_whose,
                             NULL AS __kanon_none${passing}
                      FROM __kanon_source)
                GROUP BY __kanon_whose))
),
