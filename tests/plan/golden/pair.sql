-- anonymize_audit('patients', release := 'patients', k := 4, sensitive := ['disease'], class_label := 'job', sensitive_values := ['Flu'], hierarchies := {'zip': 'prefix'})
WITH __kanon_kept AS (SELECT __kanon.* FROM "patients" AS __kanon
    WHERE __kanon_has("disease") AND __kanon_has("job")),
__kanon_released AS MATERIALIZED (SELECT __kanon.* FROM "patients" AS __kanon
    WHERE __kanon_has("disease") AND __kanon_has("job")),
__kanon_tree_1 AS MATERIALIZED (  -- the labels of each leaf, from itself up to the root
    SELECT CASE WHEN tree.error IS NULL THEN tree.paths
                ELSE __kanon_refuse(tree.error.kind, tree.error.sentence) END AS paths
    FROM (SELECT __kanon_tree(
        (SELECT list({'value': decode(value), 'count': size})
         FROM (SELECT encode(__kanon_key("zip")) AS value, count(*) AS size
               FROM __kanon_kept GROUP BY ALL)),
        (SELECT any_value(typeof("zip")) FROM __kanon_kept),
        NULL,
        NULL,
        '{"column": "zip", "kind": "prefix", "show_values": false}') AS tree)
),
__kanon_columns AS (
    SELECT [*COLUMNS(*)] AS columns
    FROM (SELECT __kanon_describe(COLUMNS(* EXCLUDE ("disease", "job"))) FROM (SELECT * REPLACE (__kanon_key("zip") AS "zip") FROM __kanon_kept) LIMIT 1)
),
__kanon_released_columns AS (
    SELECT [*COLUMNS(*)] AS columns
    FROM (SELECT __kanon_describe(COLUMNS(* EXCLUDE ("disease", "job"))) FROM __kanon_released LIMIT 1)
),
__kanon_cells AS (
    SELECT [*COLUMNS(*)] AS cells FROM (SELECT __kanon_key(COLUMNS(* EXCLUDE ("disease", "job"))) FROM __kanon_kept)
),
__kanon_released_cells AS (
    SELECT [*COLUMNS(*)] AS cells FROM (SELECT __kanon_key(COLUMNS(* EXCLUDE ("disease", "job"))) FROM __kanon_released)
),
__kanon_measured AS MATERIALIZED (
    SELECT CASE WHEN audited.error IS NULL THEN audited.facts
                ELSE __kanon_refuse(audited.error.kind, audited.error.sentence) END AS facts
    FROM (SELECT __kanon_audit(
        (SELECT list(cells) FROM __kanon_cells),
        (SELECT columns FROM __kanon_columns),
        (SELECT list(cells) FROM __kanon_released_cells),
        (SELECT columns FROM __kanon_released_columns),
        '{"weights": {}}',
        [{'name': 'zip', 'paths': (SELECT paths FROM __kanon_tree_1)}]) AS audited)
),
__kanon_sizes AS (
    SELECT count(*) AS __kanon_size, COLUMNS(* EXCLUDE ("disease", "job")) FROM __kanon_released GROUP BY ALL
),
__kanon_diversity AS (
    SELECT sum(__kanon_size - __kanon_most) AS strangers, coalesce(sum(__kanon_size) FILTER (WHERE __kanon_alike_0), 0) AS alike_0, coalesce(sum(__kanon_size) FILTER (WHERE __kanon_grave_0), 0) AS grave_0 FROM (
        SELECT count(*) AS __kanon_size, __kanon_majority("job") AS __kanon_most, __kanon_alike("disease") AS __kanon_alike_0, __kanon_alike("disease") AND bool_or(__kanon_key("disease") IN ('Flu')) AS __kanon_grave_0, COLUMNS(* EXCLUDE ("disease", "job")) FROM __kanon_released GROUP BY ALL)
),
__kanon_facts AS (
    SELECT *, rows_in - rows_released AS rows_suppressed
    FROM (SELECT (SELECT count(*) FROM __kanon_kept) AS rows_in,
                 coalesce(sum(__kanon_size), 0)::BIGINT AS rows_released,
                 count(*) AS classes,
                 min(__kanon_size) AS smallest,
                 max(__kanon_size) AS largest,
                 sum(__kanon_size::HUGEINT * __kanon_size)::DOUBLE AS squares,
                 coalesce(sum(__kanon_size) FILTER (WHERE __kanon_size < 4), 0) AS below,
                 (SELECT facts FROM __kanon_measured)::JSON AS measured
          FROM __kanon_sizes)
    CROSS JOIN __kanon_diversity
)
SELECT unnest(list_concat([
    {'metric': 'rows_in', 'value': (rows_in)::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'rows', 'description': 'rows of the relation'},
    {'metric': 'rows_released', 'value': (rows_released)::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'rows', 'description': 'rows that came out'},
    {'metric': 'rows_suppressed', 'value': (rows_suppressed)::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'rows', 'description': 'rows left out; rows_in = rows_released + rows_suppressed'},
    {'metric': 'classes', 'value': (classes)::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'classes', 'description': 'distinct combinations of released values'},
    {'metric': 'class_size_min', 'value': (smallest)::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'rows', 'description': 'rows of the smallest class'},
    {'metric': 'class_size_mean', 'value': (rows_released::DOUBLE / nullif(classes, 0))::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'rows', 'description': 'rows per class on average'},
    {'metric': 'class_size_max', 'value': (largest)::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'rows', 'description': 'rows of the largest class'},
    {'metric': 'k_requested', 'value': (4)::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'rows', 'description': 'the k that was asked for'},
    {'metric': 'k_reached', 'value': (smallest)::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'rows', 'description': 'the k that holds, counted on the released values'},
    {'metric': 'rows_below_k', 'value': (CASE WHEN 4 IS NOT NULL THEN below END)::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'rows', 'description': 'rows in classes smaller than k; NULL without k'},
    {'metric': 'total_il', 'value': ((measured ->> 'total_il')::DOUBLE)::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'cells', 'description': 'Total-IL: over all classes, rows times the sum of range / domain of numbers and height of the lowest common ancestor / height of the hierarchy of categories, and every quasi-identifier of a suppressed row (byun2006, definitions 7 and 8); lower is better'},
    {'metric': 'ncp', 'value': ((measured ->> 'ncp')::DOUBLE)::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'share', 'description': 'total_il per cell: 0 where nothing is lost, 1 where everything is; lower is better'},
    {'metric': 'entropy_loss', 'value': ((measured ->> 'entropy_loss')::DOUBLE)::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'bits per cell', 'description': 'what it takes on average to tell a value from those that are released with it, by their frequencies in the source (non-uniform entropy, Gionis and Tassa 2009); lower is better'},
    {'metric': 'cells_unread', 'value': ((measured ->> 'unread')::DOUBLE)::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'cells', 'description': 'released values that are no value, interval, set or label of the source; they count as lost'},
    {'metric': 'cells_points', 'value': ((measured ->> 'points')::DOUBLE)::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'cells', 'description': 'released numbers that are no value of the source, such as centroids; they say nothing of a range, and count as not lost'},
    {'metric': 'discernibility', 'value': (coalesce(squares, 0) + rows_in::DOUBLE * rows_suppressed)::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'rows squared', 'description': 'sum of squared class sizes, and rows_in for each suppressed row; lower is better'},
    {'metric': 'class_size_ratio', 'value': (rows_released::DOUBLE / nullif(classes, 0) / 4)::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'ratio', 'description': 'rows per class on average over k (LeFevre et al. 2006); 1 is best'},
    {'metric': 'classification_metric', 'value': ((strangers + rows_in - rows_released)::DOUBLE / nullif(rows_in, 0))::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'share', 'description': 'rows that are suppressed or whose class_label is not that of the majority of their class (Iyengar 2002); NULL without class_label; lower is better'},
    {'metric': 'risk_max', 'value': (1.0::DOUBLE / smallest)::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'probability', 'description': 'largest chance that a prosecutor finds a person''s row: 1 / class_size_min'},
    {'metric': 'risk_mean', 'value': (classes::DOUBLE / nullif(rows_released, 0))::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'probability', 'description': 'chance that a prosecutor finds a person''s row, on average over the rows'},
    {'metric': 'equal_diversity', 'value': (alike_0)::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'rows', 'description': 'released rows whose class has one value of the sensitive column only (byun2006, definition 10); lower is better'},
    {'metric': 'sensitive_diversity', 'value': (grave_0)::DOUBLE::DOUBLE, 'text': NULL::VARCHAR, 'unit': 'rows', 'description': 'those of them whose one value is among sensitive_values; lower is better'}
], list_transform(
    from_json(measured -> 'attributes', '[{"name": "VARCHAR", "ncp": "DOUBLE"}]'),
    lambda attribute: {
        'metric': 'ncp (' || attribute.name || ')', 'value': attribute.ncp,
        'text': NULL::VARCHAR, 'unit': 'share', 'description': 'total_il of this quasi-identifier alone, per row, without its weight; lower is better'}
)), max_depth := 2)
FROM __kanon_facts
WHERE (SELECT list_sort(coalesce(list(concat(column_name, ' ', comment)), [])) FROM duckdb_columns() WHERE comment LIKE '%kanon:%' AND lower(table_name) = lower('patients') AND lower(schema_name) = lower(current_schema()) AND lower(database_name) = lower(current_database())) = []::VARCHAR[] OR __kanon_refuse('OptionError', 'The column comments of "patients" declare roles that are not committed yet. Commit first, or give the roles in the call.')
