-- An identifier, and the quasi-identifiers that are the same in all rows of each of its values, where
-- many have several rows: a part of anonymize('visits', k=5, identifiers=['patient_id']). Some values
-- are enough, with all their rows.
(SELECT list_concat([${name}], list_transform(
    list_filter([*COLUMNS(*)], lambda known: __kanon_is_constant(known)), lambda known: known.name))
 FROM (SELECT __kanon_of_persons(COLUMNS(* EXCLUDE (__kanon_whose)), 2)
       FROM (SELECT __kanon_whose, __kanon_of_person(COLUMNS(* EXCLUDE (__kanon_whose)))
             FROM (SELECT hash(${column}::VARCHAR) AS __kanon_whose, ${quasi}
                   FROM __kanon_source
                   WHERE ${column} IS NOT NULL AND hash(${column}::VARCHAR)
                       % greatest(1, (SELECT count(*) FROM __kanon_source) // ${some}) = 0)
             GROUP BY __kanon_whose)))
