-- To which leaf all rows of a person go, that of one of them, for kanon_sql.anonymize_files.
CREATE OR REPLACE TEMP TABLE __kanon_leaf_of AS
SELECT __kanon_entity, arg_min(__kanon_leaf, __kanon_open) AS __kanon_leaf
FROM (
    SELECT ${entity} AS __kanon_entity, __kanon_open, ${leaf} AS __kanon_leaf
    FROM (SELECT __kanon_rows.*, hash(row(${open})) AS __kanon_open,
                 hash(row(${depth}, ${entity})) AS __kanon_mix, ${values}
          FROM ${rows} AS __kanon_rows${joins}) AS __kanon
)
GROUP BY __kanon_entity
