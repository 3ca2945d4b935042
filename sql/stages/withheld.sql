-- The columns without a role that look like identifiers, where others='release': a part of
-- anonymize('t', k=5, quasi_identifiers=['age'], others='release').
__kanon_withheld AS MATERIALIZED (
    SELECT list_transform(
        list_filter([*COLUMNS(*)], lambda profile: __kanon_looks_like_identifier(profile)),
        lambda profile: profile.name) AS names
    FROM (SELECT __kanon_profile(COLUMNS(*), ${least})
          FROM (SELECT NULL AS __kanon_none, * EXCLUDE (${named}) FROM __kanon_source))
),
