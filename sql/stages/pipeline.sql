-- From a relation to its verified release; SELECT sql FROM anonymize_sql('patients', k=5) shows it
-- with the names filled in.
_source AS MATERIALIZED (  -- each row with a number, and a hash of all its columns to break ties
    SELECT row_number() OVER () AS __kanon_row,
           md5_number_lower(concat('${seed} ', row(*COLUMNS(__kanon.*))::VARCHAR)) AS __kanon_hash,
           __kanon.*
    FROM ${relation} AS __kanon${clock}${where}
),
_kept AS (  -- the rows that take part
    FROM _source${suppress}
),
${trees}_columns AS (  -- name and type of each quasi-identifier
    SELECT [*COLUMNS(*)] AS columns
    FROM (SELECT __kanon_describe(${quasi}) FROM ${keyed_source} LIMIT 1)
),
_taken AS (  -- columns with a name that the query needs for itself
    SELECT list_filter([*COLUMNS(*)], lambda name:
        starts_with(lower(name), '__kanon_')${reserved}) AS names
    FROM (SELECT __kanon_name(COLUMNS(* EXCLUDE (__kanon_row, __kanon_hash))) FROM _source LIMIT 1)
),
_cells AS (  -- the quasi-identifiers of each row, as numbers and categories
    SELECT __kanon_row, __kanon_hash, __kanon_label, __kanon_secret, __kanon_extra,
           [*COLUMNS(* EXCLUDE (__kanon_row, __kanon_hash, __kanon_label, __kanon_secret,
                                __kanon_extra))] AS cells
    FROM (SELECT __kanon_row, __kanon_hash, ${label}::VARCHAR AS __kanon_label,
                 ${secret}::VARCHAR AS __kanon_secret, ${extra}::DOUBLE AS __kanon_extra,
                 ${cell}
          FROM ${keyed})
),
_begun AS MATERIALIZED (  -- starts the method: all rows in, a ticket out
    SELECT __kanon_start(
        list({'row': __kanon_row, 'hash': __kanon_hash, 'cells': cells,
              'label': __kanon_label, 'secret': __kanon_secret,
              'extra': __kanon_extra}),
        (SELECT columns FROM _columns),
        ${options},
        ${hierarchies},
        ${tables}) AS ticket
    FROM _cells
),
_waited AS MATERIALIZED (  -- asks in turns whether it is done, so that an interrupt is heard
    SELECT turn FROM range(1000000000000) AS _turns(turn) CROSS JOIN _begun
    WHERE __kanon_wait(ticket, turn) LIMIT 1
),
_grouped AS MATERIALIZED (  -- one class per row
    SELECT __kanon_finish(ticket, turn) AS grouped FROM _begun CROSS JOIN _waited
),
_labels AS MATERIALIZED (  -- class -1 is a suppressed row
    SELECT label.row AS __kanon_row, label.class AS __kanon_class
    FROM (SELECT unnest(CASE WHEN grouped.error IS NULL THEN grouped.labels
                             ELSE __kanon_refuse(grouped.error.kind, grouped.error.sentence)
                             END) AS label FROM _grouped)
),
_labelled AS (
    SELECT _labels.__kanon_class, _kept.* FROM _kept JOIN _labels USING (__kanon_row)
    WHERE _labels.__kanon_class >= 0
),
${centers}_classes AS MATERIALIZED (  -- what each class releases
    ${classes}
),
_released AS MATERIALIZED (  -- every row with its class's values, columns in their old order
    (SELECT __kanon_blank(COLUMNS(* EXCLUDE (${dropped}))) FROM _source LIMIT 0)
    UNION ALL BY NAME
    (SELECT _classes.* EXCLUDE (__kanon_class)${passing}
     FROM _labelled JOIN _classes USING (__kanon_class))
),
_sizes AS MATERIALIZED (  -- rows per combination of released values
    SELECT count(*) AS __kanon_size, ${quasi_released} FROM _released GROUP BY ALL
),
_check AS MATERIALIZED (  -- nothing comes out unless this passes
    SELECT CASE
        WHEN (SELECT len(names) FROM _taken) > 0
            THEN __kanon_refuse('OptionError', format(${taken_error}, (SELECT names[1] FROM _taken)))
        WHEN NOT (${declared})
            THEN __kanon_refuse('OptionError', ${declared_error})
${constraints}        WHEN [coalesce(sum(__kanon_size), 0) + any_value(__kanon_out),
              any_value(__kanon_labels), any_value(__kanon_once)]
             <> [any_value(__kanon_kept), any_value(__kanon_kept), any_value(__kanon_kept)]
            THEN __kanon_refuse('ReleaseError', format(
                ${lost_error}, coalesce(sum(__kanon_size), 0)::BIGINT,
                any_value(__kanon_kept) - any_value(__kanon_out), any_value(__kanon_once)))
        WHEN any_value(__kanon_out) > floor(${suppressed}::DOUBLE * any_value(__kanon_kept))
            THEN __kanon_refuse(
                'ReleaseError', format(${out_error}, any_value(__kanon_out)::BIGINT))
        ELSE true END AS passed
    FROM (SELECT count(*) AS __kanon_labels, count(DISTINCT __kanon_row) AS __kanon_once,
                 count(*) FILTER (WHERE __kanon_class < 0) AS __kanon_out
          FROM _labels)
    CROSS JOIN (SELECT count(*) AS __kanon_kept FROM _kept)
    LEFT JOIN _sizes ON true
)
