-- What can be linked once this release is out: a part of
-- anonymize('t', k=5, entity='id', ledger='releases').
__kanon_entries AS MATERIALIZED (  -- what the ledger gets
    SELECT release, person, __kanon_class AS class, source, __kanon_row
    FROM __kanon_owners JOIN __kanon_labels USING (__kanon_row) CROSS JOIN __kanon_numbered
    WHERE __kanon_class >= 0
),
__kanon_exposed AS MATERIALIZED (
    SELECT release, person, class FROM __kanon_ledger
    UNION ALL
    SELECT release, person, class FROM __kanon_entries
),
${crowds},
__kanon_linked AS MATERIALIZED (
    SELECT min(${counted}) AS all_crowds,
           min(CASE WHEN last_release = release THEN ${counted} END) AS crowd,
           (SELECT count(*) FROM __kanon_entries) - (SELECT count(DISTINCT person) FROM __kanon_entries)
               AS doubled
    FROM __kanon_crowds_after CROSS JOIN __kanon_numbered
),
