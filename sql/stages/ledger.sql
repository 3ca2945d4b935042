-- What a ledger says of the persons of the relation, and what is wrong with it: a part of
-- anonymize('t', k=5, entity='id', ledger='releases').
__kanon_ledger AS MATERIALIZED (
    SELECT TRY_CAST(release::VARCHAR AS BIGINT) AS release, __kanon_key(entity) AS person,
           TRY_CAST(class::VARCHAR AS BIGINT) AS class, published, source::VARCHAR AS source,
           typeof(entity) AS type,
           CASE WHEN regexp_full_match(options::VARCHAR, '\{"k":[0-9]+,.*"columns":\[.*\]\}')
                THEN options::VARCHAR END AS options
    FROM ${ledger} AS __kanon
),
__kanon_owners AS MATERIALIZED (  -- whose row each row is, and a digest of what may identify it
    SELECT __kanon_row, __kanon_key(${entity}) AS person,
           md5(to_json([${keys}])::VARCHAR) AS source
    FROM __kanon_source
),
__kanon_releases AS MATERIALIZED (
    SELECT release, count(*) AS exposures, count(DISTINCT person) AS persons,
           min(options) AS options, max(options) AS options_too
    FROM __kanon_ledger GROUP BY release
),
__kanon_numbered AS MATERIALIZED (SELECT coalesce(max(release), 0) + 1 AS release FROM __kanon_releases),
__kanon_stored AS MATERIALIZED (  -- what was asked of the last release, and the least k of all
    SELECT list_sort(list({'release': release, 'options': options}), 'DESC', 'NULLS LAST')[1].options
               AS options,
           min((options ->> 'k')::BIGINT) AS least, max((options ->> 'k')::BIGINT) AS most
    FROM __kanon_releases
),
__kanon_asked AS MATERIALIZED (  -- what is asked of this one
    ${asked}
),
__kanon_frozen AS MATERIALIZED (  -- what each class published, which stays
    SELECT class, published FROM __kanon_ledger GROUP BY class, published
),
__kanon_past AS MATERIALIZED (  -- the history of each person, such as '1:17 2:17'
    SELECT person,
           array_to_string(list_transform(
               list_sort(list({'release': release, 'class': class}), 'ASC', 'NULLS LAST'),
               lambda step: concat(step.release, ':', step.class)), ' ') AS history,
           list_sort(list({'release': release, 'source': source}), 'DESC', 'NULLS LAST')[1].source
               AS source
    FROM __kanon_ledger GROUP BY person
),
${crowds},
__kanon_columns_asked AS MATERIALIZED (  -- the quasi-identifiers: then, and now
    SELECT from_json(options -> 'columns', '[["VARCHAR"]]') AS stored,
           (SELECT from_json(options -> 'columns', '[["VARCHAR"]]') FROM __kanon_asked) AS asked
    FROM __kanon_stored
),
__kanon_faults AS MATERIALIZED (
    SELECT (SELECT count(person) - count(DISTINCT person) FROM __kanon_owners) AS doubled,
           (SELECT count(*) FROM __kanon_releases) AS releases,
           (SELECT count(*) FROM __kanon_ledger WHERE release IS NULL OR person IS NULL
                OR class IS NULL OR published IS NULL OR source IS NULL OR options IS NULL)
               AS incomplete,
           (SELECT coalesce(sum(exposures - persons), 0) FROM __kanon_releases) AS doubled_there,
           (SELECT count(*) <> coalesce(max(release), 0) OR coalesce(min(release), 1) < 1
            FROM __kanon_releases) AS gaps,
           (SELECT bool_or(options <> options_too) FROM __kanon_releases) AS mixed,
           (SELECT count(*) <> count(DISTINCT class) FROM __kanon_frozen) AS unfrozen,
           (SELECT min(type) FROM __kanon_ledger) AS stored_type,
           (SELECT typeof(${entity}) FROM ${one_source}) AS type,
           least, most,
           options ->> 'against' AS stored_against,
           (SELECT min(${counted}) FROM __kanon_crowds_before) AS crowd,
           list_filter(list_transform(stored, lambda pair: pair[1]), lambda name:
               NOT list_contains(list_transform(asked, lambda pair: pair[1]), name)) AS gone,
           list_filter(list_transform(asked, lambda pair: pair[1]), lambda name:
               NOT list_contains(list_transform(stored, lambda pair: pair[1]), name)) AS fresh,
           list_filter(list_transform(asked, lambda pair: pair[1]), lambda name:
               NOT list_contains(list_transform(list_filter(stored, lambda pair:
                   list_contains(asked, pair)), lambda pair: pair[1]), name)) AS other,
           options ->> 'shown' IS DISTINCT FROM (SELECT options ->> 'shown' FROM __kanon_asked)
               AS shown,
           options ->> 'models' IS DISTINCT FROM (SELECT options ->> 'models' FROM __kanon_asked)
               AS models
    FROM __kanon_stored CROSS JOIN __kanon_columns_asked
),
