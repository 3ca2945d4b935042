-- Persons of whom rows were left out, by the grouping or since they lack a value: a part of
-- anonymize_metrics('t', k=5, entity='patient_id', nulls='suppress').
(SELECT count(DISTINCT entity)
    FROM (SELECT entity FROM __kanon_whose WHERE __kanon_class < 0
          UNION ALL
          SELECT decode(encode(__kanon_key(${entity}))) FROM __kanon_source
          WHERE __kanon_row NOT IN (SELECT __kanon_row FROM __kanon_kept)))
