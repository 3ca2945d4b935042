-- name: people_by_weight
-- People per class by sums of weights: a part of anonymize_risk('patients', sampling_weight='w').
-- There are as many people as rows at least.
__kanon_met AS (
    SELECT __kanon_size AS here, greatest(__kanon_people, __kanon_size::DOUBLE) AS people,
           CASE WHEN __kanon_people < __kanon_size THEN __kanon_size ELSE 0 END AS short
    FROM __kanon_sizes
),

-- name: people_of_nobody
-- Classes where nobody knows the population: a part of anonymize_risk('patients').
__kanon_met AS (
    SELECT __kanon_size AS here, NULL::DOUBLE AS people, NULL::BIGINT AS short FROM __kanon_sizes
),

-- name: people_of_population
-- People per class of a population: a part of anonymize_risk('patients', population='census').
-- Values are compared as text, since their types may differ; there are as many people as rows at least.
__kanon_everybody AS MATERIALIZED (
    SELECT count(*) AS there, [${cells}] AS cells FROM ${population} AS __kanon${where} GROUP BY ALL
),
__kanon_met AS (
    SELECT here, greatest(coalesce(there, 0), here)::DOUBLE AS people,
           CASE WHEN coalesce(there, 0) < here THEN here ELSE 0 END AS short
    FROM (SELECT count(*) AS here, [${cells}] AS cells FROM __kanon_kept GROUP BY ALL)
    LEFT JOIN __kanon_everybody USING (cells)
),

-- name: weightless
-- Refuses a column of weights that has a row without one: a part of anonymize_risk('t', sampling_weight='w').
        WHEN NOT (SELECT coalesce(bool_and(__kanon_weighs(${weight})), true) FROM __kanon_kept)
            THEN __kanon_refuse('DataError', ${said})

-- name: call
-- The risk that persons are found in any table:
-- FROM anonymize_risk('patients', quasi_identifiers=['age', 'zip']).
WITH ${unshadowed},
__kanon_kept AS (SELECT __kanon.* FROM ${relation} AS __kanon${where}),
__kanon_columns AS (
    SELECT [*COLUMNS(*)] AS columns
    FROM (SELECT __kanon_describe(${quasi})
          FROM ${one_kept})
),
__kanon_sizes AS MATERIALIZED (  -- rows per combination, as a reader tells them apart, and its values
    SELECT count(*) AS __kanon_size, ${weight} AS __kanon_people, ${values}${seen}
    FROM __kanon_kept GROUP BY ALL
),
${people}__kanon_pairs AS MATERIALIZED (  -- classes by their rows here, and by their people
    SELECT here, people, count(*) AS classes, sum(short)::BIGINT AS short FROM __kanon_met GROUP BY ALL
),
__kanon_begun AS MATERIALIZED (  -- begins to look at all subsets of columns; a ticket out
    SELECT __kanon_risk(
        ${cells},
        (SELECT columns FROM __kanon_columns),
        (SELECT list({'size': size, 'classes': classes})
         FROM (SELECT __kanon_size AS size, count(*) AS classes FROM __kanon_sizes GROUP BY ALL)),
        (SELECT list({'here': here, 'people': people, 'classes': classes}) FROM __kanon_pairs),
        ${population_size},
        ${options}) AS ticket
),
__kanon_waited AS MATERIALIZED (  -- asks in turns whether it is done, so that an interrupt is heard
    SELECT turn FROM range(1000000000000) AS __kanon_turns(turn) CROSS JOIN __kanon_begun
    WHERE __kanon_wait(ticket, turn) LIMIT 1
),
__kanon_measured AS MATERIALIZED (
    SELECT CASE WHEN audited.error IS NULL THEN audited.facts
                ELSE __kanon_refuse(audited.error.kind, audited.error.sentence) END AS facts
    FROM (SELECT __kanon_audited(ticket, turn) AS audited
          FROM __kanon_begun CROSS JOIN __kanon_waited)
),
__kanon_facts AS (
    ${facts}
)
SELECT unnest(list_concat([
    ${rows}
], list_transform(
    from_json(measured -> 'columns', '[{"name": "VARCHAR", "share": "DOUBLE"}]'),
    lambda entry: {
        'metric': ${column_name} || ' (' || entry.name || ')', 'value': entry.share,
        'text': NULL::VARCHAR, 'unit': ${column_unit}, 'in_words': NULL::VARCHAR, 'description': ${column_text}}
), list_transform(
    from_json(measured -> 'subsets', '[{"name": "VARCHAR", "distinctness": "DOUBLE"}]'),
    lambda entry: {
        'metric': ${distinctness_name} || ' (' || entry.name || ')', 'value': entry.distinctness,
        'text': NULL::VARCHAR, 'unit': ${distinctness_unit}, 'in_words': NULL::VARCHAR, 'description': ${distinctness_text}}
), list_transform(
    from_json(measured -> 'subsets', '[{"name": "VARCHAR", "separation": "DOUBLE"}]'),
    lambda entry: {
        'metric': ${separation_name} || ' (' || entry.name || ')', 'value': entry.separation,
        'text': NULL::VARCHAR, 'unit': ${separation_unit}, 'in_words': NULL::VARCHAR, 'description': ${separation_text}}
)), max_depth := 2)
FROM __kanon_facts, __kanon_unshadowed
WHERE __kanon_unshadowed.passed AND CASE
${refusals}        ELSE true END

-- name: facts
-- What is counted of classes and their people: a part of anonymize_risk('patients').
SELECT *
    FROM (SELECT coalesce(sum(__kanon_size), 0)::BIGINT AS "rows",
                 count(*) AS classes,
                 min(__kanon_size) AS smallest,
                 count(*) FILTER (WHERE __kanon_size = 1) AS uniques,
                 coalesce(sum(__kanon_size) FILTER (WHERE __kanon_size < ${k}), 0)::BIGINT AS below,
                 sum(__kanon_size::HUGEINT * __kanon_size)::DOUBLE AS squares,
                 ${measured} AS measured
          FROM __kanon_sizes)
    CROSS JOIN (
        SELECT min(people) AS least,
               __kanon_added(classes * here / people) AS found,
               coalesce(sum(here * classes) FILTER (WHERE people < ${k}), 0)::BIGINT AS people_below,
               sum(short)::BIGINT AS short,
               coalesce(sum(classes) FILTER (WHERE people = 1), 0)::BIGINT AS alone
        FROM __kanon_pairs)
    CROSS JOIN (SELECT ${population_size} AS people, ${population_uniques} AS people_unique)

-- name: measured_columns
-- The combinations, as text by which they are equal: a part of anonymize_risk('patients').
(SELECT list({'size': __kanon_size, 'cells': cells})
    FROM (SELECT __kanon_size, [*COLUMNS(* EXCLUDE (__kanon_size))] AS cells
          FROM (SELECT __kanon_size, __kanon_key(COLUMNS('^__kanon_value_')) FROM __kanon_sizes)))
