-- name: withheld
-- The columns without a role that look like identifiers, where others='release': a part of
-- anonymize('t', k=5, quasi_identifiers=['age'], others='release').
__kanon_withheld AS MATERIALIZED (
    SELECT list_transform(
        list_filter([*COLUMNS(*)], lambda profile: __kanon_looks_like_identifier(profile)),
        lambda profile: profile.name) AS names
    FROM (SELECT __kanon_profile(COLUMNS(*), ${least})
          FROM (SELECT NULL AS __kanon_none, * EXCLUDE (${named}) FROM __kanon_source))
),

-- name: repeated
-- An identifier, and the quasi-identifiers that are the same in all rows of each of its values, where
-- many have several rows: a part of anonymize('visits', k=5, identifiers=['patient_id']). Some values
-- are enough, with all their rows.
(SELECT list_concat([${name}], list_transform(
    list_filter([*COLUMNS(*)], lambda known: __kanon_is_constant(known)), lambda known: known.name))
 FROM (SELECT __kanon_of_persons(COLUMNS(* EXCLUDE (__kanon_whose)), 2)
       FROM (SELECT __kanon_whose, __kanon_of_person(COLUMNS(* EXCLUDE (__kanon_whose)))
             FROM (SELECT __kanon_hash_of(${column}) AS __kanon_whose, ${quasi}
                   FROM __kanon_source
                   WHERE ${column} IS NOT NULL AND __kanon_hash_of(${column})
                       % greatest(1, (SELECT count(*) FROM __kanon_source) // ${some})::UBIGINT = 0)
             GROUP BY __kanon_whose)))

-- name: unnamed
-- The columns without a role, which are dropped or pass, any of which may say whose row a row is: a part
-- of anonymize('visits', k=5, quasi_identifiers=['sex'], others='drop'). Of each of them the hashes of
-- some values, the largest, with all their rows (see kanon_sql/encode/repeated.py).
(SELECT [*COLUMNS(*)]
 FROM (SELECT __kanon_keys(COLUMNS(* EXCLUDE (__kanon_row, __kanon_least)), __kanon_row, __kanon_least)
       FROM (SELECT __kanon_row, __kanon_least, ${hashes}
             FROM (SELECT NULL::UBIGINT AS __kanon_none, * FROM ${rows})
             CROSS JOIN (SELECT 18446744073709551615 - 18446744073709551615 // greatest(
                                    1, count(*) // ${some})::UBIGINT AS __kanon_least
                         FROM ${rows}))))

-- name: without_unnamed
-- Columns that are dropped go no further than the stage that looks at them, and it has their hashes
-- only: a part of anonymize('visits', k=5, quasi_identifiers=['sex'], others='drop').
__kanon_source AS NOT MATERIALIZED (SELECT ${row_helpers}, ${columns} FROM __kanon_read),

-- name: stages
-- From a relation to its verified release; SELECT sql FROM anonymize_sql('patients', k=5) shows it
-- with the names filled in.
${unshadowed},
${source} AS MATERIALIZED (  -- each row, its number, and what breaks ties
    SELECT row_number() OVER () AS __kanon_row,
           ${hash} AS __kanon_hash,
           ${part}${columns}
    FROM ${relation} AS __kanon${clock}${where}
),
${without_unnamed}${withheld}__kanon_${taking} AS (  -- the rows that take part
    ${kept}${suppress}
),
${parts}${trees}__kanon_columns AS (  -- name and type of each quasi-identifier
    SELECT [*COLUMNS(*)] AS columns
    FROM (SELECT __kanon_describe(${quasi})
          FROM ${one_keyed})
),
__kanon_names AS MATERIALIZED (  -- the names of all columns
    SELECT [*COLUMNS(*)] AS names
    FROM (SELECT __kanon_name(COLUMNS(* EXCLUDE (${row_helpers})))
          FROM ${one_source})
),
${ledger}__kanon_accounted AS MATERIALIZED (  -- every column has a role, and the planner saw all of them
    SELECT CASE
${refusals}        ELSE true END AS passed
),
__kanon_cells AS (  -- the quasi-identifiers of each row, as numbers and categories
    SELECT __kanon_row,
           ${apart} AS __kanon_apart,
           ${tie} AS __kanon_hash,
           __kanon_label, __kanon_secrets, __kanon_extra, cells
    FROM (SELECT COLUMNS(['__kanon_row', '__kanon_hash', '__kanon_label', '__kanon_secrets',
                          '__kanon_extra'${beside}]),
                 [*COLUMNS(* EXCLUDE (__kanon_row, __kanon_hash, __kanon_label, __kanon_secrets,
                                      __kanon_extra${without}))] AS cells
          FROM (SELECT __kanon_row, __kanon_hash, ${label}::VARCHAR AS __kanon_label,
                       ${secrets} AS __kanon_secrets, ${extra}::DOUBLE AS __kanon_extra,
                       ${whole}${cell}
                FROM ${keyed}
                WHERE (SELECT passed FROM __kanon_accounted)))
),
__kanon_begun AS MATERIALIZED (  -- announces the work: a ticket out
    SELECT __kanon_start(
        (SELECT columns FROM __kanon_columns),
        ${secret_columns},
        ${options},
        ${hierarchies},
        ${tables},
        ${passing_hidden},
        ${repeated},
        ${unnamed},
        ${threads},
        ${divided},
        ${expected},
        ${memory}) AS ticket
    FROM __kanon_accounted WHERE passed
),
__kanon_taken AS MATERIALIZED (  -- hands over the rows, some thousands at a time; the ticket again
    SELECT coalesce(
        max(__kanon_take(
            __kanon_begun.ticket, __kanon_row, __kanon_apart, __kanon_hash, cells,
            __kanon_label, __kanon_secrets, __kanon_extra)),
        (SELECT ticket FROM __kanon_begun)) AS ticket
    FROM __kanon_cells CROSS JOIN __kanon_begun
    WHERE __kanon_begun.ticket >= 0  -- else it is refused already: too many rows for the memory
),
__kanon_waited AS MATERIALIZED (  -- asks in turns whether it is done, so that an interrupt is heard
    SELECT turn FROM range(1000000000000) AS __kanon_turns(turn) CROSS JOIN __kanon_taken
    WHERE __kanon_wait(ticket, turn) LIMIT 1
),
__kanon_grouped AS MATERIALIZED (  -- what the method made of the rows
    SELECT ticket,
           CASE WHEN grouped.error IS NULL THEN grouped
                ELSE __kanon_refuse(grouped.error.kind, grouped.error.sentence) END AS grouped
    FROM (SELECT ticket, __kanon_finish(ticket, turn) AS grouped
          FROM __kanon_taken CROSS JOIN __kanon_waited)
),
__kanon_labels AS (  -- one class per row that has a label; -1 is a suppressed row
    FROM (SELECT __kanon_row, __kanon_class_of(__kanon_grouped.ticket, __kanon_row) AS __kanon_class
          FROM __kanon_kept CROSS JOIN __kanon_grouped)
    WHERE __kanon_class IS NOT NULL
),
__kanon_labelled AS NOT MATERIALIZED (  -- the rows of classes: read anew by each, not held twice
    FROM (SELECT __kanon_class_of(__kanon_grouped.ticket, __kanon_kept.__kanon_row) AS __kanon_class,
                 __kanon_kept.*
          FROM __kanon_kept CROSS JOIN __kanon_grouped)
    WHERE __kanon_class >= 0
),
${centers}__kanon_classes AS MATERIALIZED (  -- what each class releases
    ${classes}
),
__kanon_numbers AS MATERIALIZED (  -- rows per class, and of those that are left out
    SELECT __kanon_class, count(*) AS __kanon_rows FROM __kanon_labels GROUP BY __kanon_class
),
__kanon_counts AS (  -- rows per class
    FROM __kanon_numbers WHERE __kanon_class >= 0
),
__kanon_sizes AS MATERIALIZED (  -- rows per combination of released values
    SELECT sum(__kanon_rows)::BIGINT AS __kanon_size, ${seen}
    FROM __kanon_classes JOIN __kanon_counts USING (__kanon_class)
    GROUP BY ALL
),
${models}__kanon_check AS MATERIALIZED (  -- nothing comes out unless this passes
    SELECT CASE
        WHEN NOT (SELECT passed FROM __kanon_unshadowed) THEN false
        WHEN NOT (SELECT passed FROM __kanon_accounted) THEN false
${constraints}        WHEN [coalesce(sum(__kanon_size), 0) + any_value(__kanon_out),
              any_value(__kanon_label_count), any_value(__kanon_once)]
             <> [any_value(__kanon_kept_count), any_value(__kanon_kept_count), any_value(__kanon_kept_count)]
            THEN __kanon_refuse('ReleaseError', format(
                ${lost_error},
                CASE WHEN coalesce(sum(__kanon_size), 0) + any_value(__kanon_out) <> any_value(__kanon_kept_count)
                    THEN coalesce(sum(__kanon_size), 0)::BIGINT
                    ELSE any_value(__kanon_label_count) - any_value(__kanon_out) END,
                any_value(__kanon_kept_count) - any_value(__kanon_out),
                any_value(__kanon_once) - any_value(__kanon_out)))
        WHEN ${too_many}
            THEN __kanon_refuse(
                'ReleaseError', format(${out_error}, any_value(__kanon_out)::BIGINT))
        ELSE true END AS passed
    FROM (SELECT coalesce(sum(__kanon_rows), 0)::BIGINT AS __kanon_once,
                 coalesce(sum(__kanon_rows) FILTER (WHERE __kanon_class < 0), 0)::BIGINT
                     AS __kanon_out
          FROM __kanon_numbers)
    CROSS JOIN (SELECT grouped.rows AS __kanon_label_count FROM __kanon_grouped)
    CROSS JOIN (SELECT count(*) AS __kanon_kept_count FROM __kanon_kept)
    LEFT JOIN __kanon_sizes ON true
)

-- name: released
-- What the classes release: a part of anonymize_metrics('t', k=5).
__kanon_alike AS MATERIALIZED (  -- classes that release the same values, by the first of them
    SELECT unnest(__kanon_members) AS __kanon_class, __kanon_first
    FROM (SELECT list(__kanon_class) AS __kanon_members, min(__kanon_class) AS __kanon_first,
                 ${seen_classes}
          FROM __kanon_classes GROUP BY ALL)
),
__kanon_centers AS (
    SELECT __kanon_class, [*COLUMNS(* EXCLUDE (__kanon_class))] AS center
    FROM (SELECT __kanon_class, __kanon_cell(${quasi_classes}) FROM (${centers}))
),

-- name: measured_by_part
-- What the grouping costs in each part, measured there from the released point of each class (its
-- centroid where the representation is no point), and what is lost by what the classes publish.
${released}
__kanon_measured AS MATERIALIZED (
    SELECT part, measured.facts AS measured
    FROM (SELECT part, __kanon_measure(
                     NULL,
                     list({'row': __kanon_row, 'hash': __kanon_hash, 'class': __kanon_class,
                           'alike': coalesce(__kanon_first, __kanon_class),
                           'cells': cells, 'center': coalesce(center, cells)}),
                     (SELECT columns FROM __kanon_columns),
                     ${options},
                     ${hierarchies},
                     ${published},
                     (SELECT {'facts': '{}', 'cells': grouped.cells, 'types': (
                          SELECT [*COLUMNS(*)] FROM (SELECT typeof(${quasi}) FROM ${one_source}))}
                      FROM __kanon_grouped),
                     ${outside},
                     (SELECT grouped.hidden FROM __kanon_grouped)) AS measured
          FROM (SELECT *, __kanon_secrets[len(__kanon_secrets)].number::BIGINT AS part
                FROM __kanon_cells JOIN __kanon_labels USING (__kanon_row)
                LEFT JOIN __kanon_centers USING (__kanon_class)
                LEFT JOIN __kanon_alike USING (__kanon_class))
          WHERE part >= 0
          GROUP BY part)
)

-- name: measured
-- What the grouping costs, measured from the released point of each class (its centroid where
-- the representation is no point), and what is lost by what the classes publish.
${released}
__kanon_measured AS MATERIALIZED (
    SELECT __kanon_measure(
        (SELECT ticket FROM __kanon_grouped),  -- under it are the rows, which aren't held twice
        list({'row': NULL::BIGINT, 'hash': NULL::UBIGINT, 'class': __kanon_class,
              'alike': __kanon_first, 'cells': NULL, 'center': center}),
        (SELECT columns FROM __kanon_columns),
        ${options},
        ${hierarchies},
        ${published},
        (SELECT {'facts': grouped.facts, 'cells': grouped.cells, 'types': (
             SELECT [*COLUMNS(*)] FROM (SELECT typeof(${quasi}) FROM ${one_source}))}
         FROM __kanon_grouped),
        ${outside},
        (SELECT grouped.hidden FROM __kanon_grouped)) AS measured
    FROM __kanon_centers JOIN __kanon_alike USING (__kanon_class)
),
__kanon_radii AS (
    SELECT entry.class AS __kanon_class, entry.radius AS radius
    FROM (SELECT unnest(measured.radii) AS entry FROM __kanon_measured)
)

-- name: outside
-- The cells of the rows that take no part: a part of anonymize_metrics('t', k=5, nulls='suppress').
(SELECT list(cells)
    FROM (SELECT __kanon_row, [*COLUMNS(* EXCLUDE (__kanon_row))] AS cells
          FROM (SELECT __kanon_row, ${cell} FROM ${keyed_source}))
    WHERE __kanon_row NOT IN (SELECT __kanon_row FROM __kanon_cells))
