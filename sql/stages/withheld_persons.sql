-- The columns without a role that look like identifiers by their rows, or that tell persons apart as
-- the entity does, where others='release': a part of
-- anonymize('t', k=5, quasi_identifiers=['age'], entity='patient_id', others='release').
__kanon_withheld AS MATERIALIZED (
    SELECT list_transform(
        list_filter(told, lambda known: list_contains(alike, known.name) OR (
            __kanon_is_entity(known) AND NOT list_contains(${known}, __kanon_caseless(known.name)))),
        lambda known: known.name) AS names
    FROM (SELECT list_transform(
              list_filter([*COLUMNS(*)], lambda profile: __kanon_looks_like_identifier(profile)),
              lambda profile: profile.name) AS alike
          FROM (SELECT __kanon_profile(COLUMNS(*), ${least})
                FROM (SELECT NULL AS __kanon_none, * EXCLUDE (${named}) FROM __kanon_source)))
    CROSS JOIN __kanon_told
),
