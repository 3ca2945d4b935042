-- name: check
-- Whether a ledger keeps what it promises: FROM ledger_check('releases', k=5).
WITH ${unshadowed},
__kanon_ledger AS MATERIALIZED (
    SELECT TRY_CAST(release::VARCHAR AS BIGINT) AS release, __kanon_key(entity) AS person,
           TRY_CAST(class::VARCHAR AS BIGINT) AS class
    FROM ${relation} AS __kanon
),
__kanon_exposed AS MATERIALIZED (
    FROM __kanon_ledger WHERE release IS NOT NULL AND person IS NOT NULL AND class IS NOT NULL
),
${crowds},
__kanon_told AS (
    SELECT (SELECT count(*) FROM __kanon_ledger) AS exposures,
           (SELECT count(*) FROM __kanon_exposed) AS complete,
           (SELECT count(*) FROM (SELECT DISTINCT release, person FROM __kanon_exposed)) AS single,
           (SELECT count(DISTINCT release) FROM __kanon_exposed) AS releases,
           (SELECT coalesce(max(release), 0) FROM __kanon_exposed) AS last_release,
           (SELECT coalesce(min(release), 1) FROM __kanon_exposed) AS first_release,
           coalesce(sum(persons), 0)::BIGINT AS persons,
           min(crowd) AS presence, min(persons) AS absence,
           coalesce(sum(persons) FILTER (WHERE crowd < ${k}), 0)::BIGINT AS below_presence,
           coalesce(sum(persons) FILTER (WHERE persons < ${k}), 0)::BIGINT AS below_absence
    FROM __kanon_crowds
)
SELECT releases, persons, exposures,
       presence AS presence_anonymity_set_min,
       absence AS absence_anonymity_set_min,
       ${k}::BIGINT AS k_requested,
       CASE WHEN ${k} IS NOT NULL THEN below_presence END AS presence_persons_below_k,
       CASE WHEN ${k} IS NOT NULL THEN below_absence END AS absence_persons_below_k,
       exposures - complete AS rows_incomplete,
       complete - single AS rows_doubled,
       CASE WHEN first_release < 1 THEN NULL ELSE last_release - releases END AS releases_missing,
       CASE WHEN ${k} IS NULL THEN NULL
            ELSE presence >= ${k} AND exposures = single AND first_release >= 1
                 AND last_release = releases END AS keeps_presence,
       CASE WHEN ${k} IS NULL THEN NULL
            ELSE absence >= ${k} AND exposures = single AND first_release >= 1
                 AND last_release = releases END AS keeps_absence
FROM __kanon_told, __kanon_unshadowed
WHERE __kanon_unshadowed.passed

-- name: histories
-- The different histories of a ledger: a part of ledger_check('releases', k=5).
__kanon_histories${s} AS MATERIALIZED (  -- the different histories, and how many persons have each
    SELECT row_number() OVER () AS history, steps, persons
    FROM (SELECT steps, count(*) AS persons
          FROM (SELECT list_sort(list({'release': release, 'class': class}), 'ASC', 'NULLS LAST')
                           AS steps
                FROM ${exposed} GROUP BY person)
          GROUP BY steps)
)

-- name: crowds
-- How many persons share what an attacker can link of somebody in all releases: a part of
-- ledger_check('releases', k=5). Persons with equal histories are alike, so they are counted by
-- history: a list of (release, class). Those who have all steps of a history are found by joining
-- step by step; nobody else has as many in common with it as it has steps.
__kanon_steps${s} AS MATERIALIZED (
    SELECT history, persons, len(steps) AS length, steps[len(steps)].release AS last_release,
           unnest(steps) AS step
    FROM __kanon_histories${s}
),
__kanon_crowds${s} AS MATERIALIZED (  -- of each history: those who have it, and who have all its steps
    SELECT history, persons, last_release, sum(others)::BIGINT AS crowd
    FROM (SELECT mine.history, any_value(mine.persons) AS persons,
                 any_value(mine.last_release) AS last_release, any_value(theirs.persons) AS others
          FROM __kanon_steps${s} AS mine JOIN __kanon_steps${s} AS theirs ON mine.step = theirs.step
          GROUP BY mine.history, theirs.history
          HAVING count(*) = any_value(mine.length))
    GROUP BY history, persons, last_release
)

-- name: none
-- The ledger before the first release: a part of
-- anonymize_ledger('t', k=5, entity='id', quasi_identifiers=['age', 'zip']).
(SELECT NULL::BIGINT AS release, ${entity} AS entity, NULL::BIGINT AS class, NULL AS published,
        NULL::VARCHAR AS source, NULL::VARCHAR AS options FROM __kanon_source WHERE false)

-- name: asked
-- What is asked of a release, as its ledger keeps it: a part of
-- anonymize_ledger('t', k=5, entity='id', quasi_identifiers=['age', 'zip']).
SELECT to_json({'k': ${k}, 'attacker': ${attacker}, 'headroom': ${headroom}, 'method': ${method},
                'version': ${version}, 'shown': ${shown}, 'models': ${models},
                'columns': list_sort(list_transform(
                    columns, lambda pair: [__kanon_caseless(pair[1]), pair[2]]), 'ASC', 'NULLS LAST')
               })::VARCHAR AS options
    FROM __kanon_columns

-- name: read
-- The rows of a ledger, as all that follows reads them: a part of
-- anonymize('t', k=5, entity='id', ledger='releases').
SELECT TRY_CAST(release::VARCHAR AS BIGINT) AS release, __kanon_key(entity) AS person,
           TRY_CAST(class::VARCHAR AS BIGINT) AS class, published, source::VARCHAR AS source,
           typeof(entity) AS type,
           CASE WHEN regexp_full_match(options::VARCHAR, '\{"k":[0-9]+,.*"columns":\[.*\]\}')
                THEN options::VARCHAR END AS options
    FROM ${ledger} AS __kanon

-- name: source
-- A digest of what may identify a person: a part of
-- anonymize('t', k=5, entity='id', ledger='releases').
md5(to_json([${keys}])::VARCHAR)

-- name: reasons
-- Why a row isn't shown, in one word: a part of
-- suppressed_rows('t', k=5, entity='id', ledger='releases').
__kanon_reasons AS (
    SELECT persons.__kanon_row,
           CASE WHEN persons.__kanon_row NOT IN (SELECT __kanon_row FROM __kanon_kept)
                    THEN 'suppressed'
                WHEN past.person IS NULL THEN 'waiting'
                WHEN past.source <> persons.source THEN 'stale'
                ELSE 'withheld' END AS reason
    FROM __kanon_owners AS persons LEFT JOIN __kanon_past AS past USING (person)
)

-- name: stages
-- What a ledger says, and the persons of the relation: a part of
-- anonymize('t', k=5, entity='id', ledger='releases').
__kanon_ledger AS MATERIALIZED (
    ${read}
),
__kanon_owners AS MATERIALIZED (  -- whose row each row is, and a digest of what may identify it
    SELECT __kanon_row, __kanon_key(${entity}) AS person,
           ${source} AS source
    FROM __kanon_source
),

-- name: releases
-- The releases of a ledger: a part of anonymize('t', k=5, entity='id', ledger='releases').
__kanon_releases AS MATERIALIZED (
    SELECT release, count(*) AS exposures, count(DISTINCT person) AS persons,
           min(options) AS options, max(options) AS options_too
    FROM __kanon_ledger GROUP BY release
),

-- name: numbered
-- The number of the next release, and what is asked of it: a part of
-- anonymize('t', k=5, entity='id', ledger='releases').
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

-- name: past
-- What each class published, and what was told of each person: a part of
-- anonymize('t', k=5, entity='id', ledger='releases').
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

-- name: faults
-- What is wrong with a ledger, or with the persons of a relation: a part of
-- anonymize('t', k=5, entity='id', ledger='releases').
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
           options ->> 'attacker' AS stored_attacker,
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

-- name: going_on
-- The classes of a ledger that go on, as a block of newcomers reads them: a part of
-- kanon_sql.anonymize_files(..., entity='id', ledger='releases/*.parquet').
__kanon_frozen AS NOT MATERIALIZED (SELECT class, published FROM ${classes}),

-- name: published
-- What each class of a ledger published, column by column: a part of
-- anonymize('t', k=5, entity='id', ledger='releases').
__kanon_published_before AS MATERIALIZED (
    SELECT class AS __kanon_class, unnest(published) FROM __kanon_frozen
),

-- name: after
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
           min(CASE WHEN last_release = release THEN ${counted} END) AS crowd
    FROM __kanon_crowds_after CROSS JOIN __kanon_numbered
),

-- name: members
-- Who is in each crowd of this release, which stands by its history: a part of
-- anonymize('t', k=5, entity='id', ledger='releases', l=2, sensitive=['disease']).
__kanon_members AS MATERIALIZED (
    SELECT pairs.history AS combination, entries.__kanon_row
    FROM (SELECT mine.history, theirs.history AS others
          FROM __kanon_steps_after AS mine JOIN __kanon_steps_after AS theirs
              ON mine.step = theirs.step
          WHERE mine.last_release = (SELECT release FROM __kanon_numbered)
          GROUP BY mine.history, theirs.history
          HAVING count(*) = any_value(mine.length)${equal}) AS pairs
    JOIN __kanon_histories_after AS histories ON histories.history = pairs.others
    JOIN (SELECT person,
                 list_sort(list({'release': release, 'class': class}), 'ASC', 'NULLS LAST') AS steps
          FROM __kanon_exposed GROUP BY person) AS lives USING (steps)
    JOIN __kanon_entries AS entries USING (person)
),

-- name: histogram
-- What privacy models look at, of the crowds of a release as of its classes; all rows are those that
-- are released now: a part of
-- anonymize('t', k=5, entity='id', ledger='releases', l=2, sensitive=['disease']).
__kanon_histogram_${i}_crowds AS MATERIALIZED (  -- persons of each value in each crowd
    SELECT combination, decode(encode(__kanon_key(${column}))) AS label, count(*) AS size
    FROM __kanon_members JOIN __kanon_labelled USING (__kanon_row)
    GROUP BY combination, decode(encode(__kanon_key(${column})))
),
__kanon_domain_${i}_crowds AS (FROM __kanon_domain_${i}),
__kanon_whole_${i}_crowds AS (FROM __kanon_whole_${i}),
__kanon_spread_${i}_crowds AS MATERIALIZED (  -- the persons of each crowd
    SELECT combination, sum(size)::BIGINT AS size, count(label) AS different,
           coalesce(sum(size) FILTER (WHERE label IS NULL), 0)::BIGINT AS missing
    FROM __kanon_histogram_${i}_crowds GROUP BY combination
),
__kanon_placed_${i}_crowds AS (  -- persons of each value in each crowd, and among all
    SELECT combination, __kanon_domain_${i}.label, place, size, many
    FROM __kanon_histogram_${i}_crowds AS crowds JOIN __kanon_domain_${i}
        ON crowds.label IS NOT DISTINCT FROM __kanon_domain_${i}.label
),

-- name: broken
-- How many crowds of a release don't keep a model; one that its stage lacks doesn't keep it, either:
-- a part of anonymize('t', k=5, entity='id', ledger='releases', l=2, sensitive=['disease']).
SELECT (SELECT count(DISTINCT combination) FROM __kanon_members)
        - (SELECT count(*) FILTER (WHERE passes) FROM ${stage}) AS broken

-- name: models
-- How many crowds don't keep their models: a part of
-- anonymize('t', k=5, entity='id', ledger='releases', l=2, sensitive=['disease']).
__kanon_models_of_crowds AS MATERIALIZED (
    SELECT max(broken) AS broken FROM (${models})
),

-- name: known
-- What the grouping is told of the ledger, as text: the row of each person of the ledger, if there is
-- one, the history, whether the person changed since, and a lot. A part of
-- anonymize('t', k=5, entity='id', ledger='releases').
(SELECT list([persons.__kanon_row::VARCHAR, past.history,
                  CASE WHEN persons.__kanon_row IS NULL THEN NULL
                       ELSE (persons.source <> past.source)::VARCHAR END,
                  ((md5_number(concat(${seed}, ' ', release, ' ', past.person)) >> 64)::UBIGINT)::VARCHAR])
     FROM __kanon_past AS past LEFT JOIN __kanon_owners AS persons USING (person)
     CROSS JOIN __kanon_numbered)

-- name: frozen
-- What the classes published, as cells in text, and whose they are: a part of
-- anonymize('t', k=5, entity='id', ledger='releases').
{'name': 'frozen',
 'names': (SELECT list_concat(['class'], *COLUMNS(*))
           FROM (SELECT [__kanon_name(COLUMNS(* EXCLUDE (__kanon_class))), '']
                 FROM ${one_published})),
 'rows': (SELECT list(list_concat([__kanon_class::VARCHAR], *COLUMNS(* EXCLUDE (__kanon_class))))
          FROM (SELECT __kanon_class, [
                    (__kanon_cell(COLUMNS(* EXCLUDE (__kanon_class)))).number::VARCHAR,
                    __kanon_key(COLUMNS(* EXCLUDE (__kanon_class)))]
                FROM __kanon_published_before))}

-- name: centers
-- What the classes publish, as the points that errors are measured from: a part of
-- anonymize_metrics('t', k=5, entity='id', ledger='releases').
(SELECT * ${without}FROM __kanon_classes)

-- name: classes
-- What each class releases, of those that go on what they released before: a part of
-- anonymize('t', k=5, entity='id', ledger='releases').
SELECT * FROM (${classes})
    WHERE __kanon_class NOT IN (SELECT class FROM __kanon_frozen)
    UNION ALL BY NAME
    (SELECT COLUMNS(lambda name: list_contains(${quasi}, __kanon_caseless(name)))
     FROM __kanon_published_before
     WHERE __kanon_class IN (SELECT __kanon_class FROM __kanon_labels))

-- name: call
-- What a release adds to its ledger, one row per person that is released:
-- CREATE TABLE releases AS FROM anonymize_ledger('patients', k=5, entity='id', headroom=1).
WITH ${pipeline}
SELECT entries.release, persons.entity, entries.class, shown.published, entries.source,
       (SELECT options FROM __kanon_asked) AS options
FROM __kanon_entries AS entries
JOIN (SELECT __kanon_row, ${entity} AS entity FROM __kanon_source) AS persons USING (__kanon_row)
JOIN (SELECT __kanon_class, ${published} AS published FROM __kanon_classes) AS shown
    ON shown.__kanon_class = entries.class
CROSS JOIN __kanon_check
WHERE __kanon_check.passed
ORDER BY entries.class ASC, md5(concat('${seed} ', entries.person)) ASC
