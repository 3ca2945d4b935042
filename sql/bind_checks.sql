-- name: taken
-- The first column with a name that the query, or the release, needs for itself: a part of
-- anonymize('t', k=5).
(SELECT list_filter(names, lambda name: starts_with(__kanon_caseless(name), '__kanon_')${reserved})[1]
 FROM __kanon_names)

-- name: lacking
-- Whether the relation has no column of a name that the call gives it, which the planner didn't see:
-- a part of anonymize('t', k=5, sensitive=['disese']).
NOT list_contains(list_transform(${names}, lambda name: __kanon_caseless(name)), ${name})

-- name: unruled
-- The columns without a role, and what is said of them: a part of
-- anonymize('t', k=5, quasi_identifiers=['age']).
(SELECT CASE WHEN len(names) > 0 THEN format(${said},
        CASE WHEN len(names) = 1 THEN '1 column has'
             ELSE concat(len(names), ' columns have') END,
        concat('''', array_to_string(names[1:${listed}], ''', '''), ''''),
        CASE WHEN len(names) > ${listed} THEN concat(' and ', len(names) - ${listed}, ' more')
             ELSE '' END) END
 FROM (SELECT list_filter(names, lambda name: NOT list_contains(${ruled}, __kanon_caseless(name))) AS names
       FROM __kanon_names))

-- name: undeclared
-- Whether comments declare roles that the planner didn't see, for they are not committed or belong
-- to what is temporary: a part of anonymize('t', k=5).
EXISTS (SELECT 1 FROM duckdb_columns()
    WHERE list_contains(${tables}, __kanon_caseless(table_name))
    AND __kanon_declares(comment)
    AND NOT list_contains(${seen}, concat(
        database_name, '.', schema_name, '.', table_name, '.', column_name, ' ', comment))
    AND NOT list_contains(${given}, __kanon_caseless(column_name)))

-- name: inherited
-- Whether the relation is a temporary view, and one that it reads, by way of other views too, has
-- comments that declare roles which the call doesn't give: a part of
-- anonymize('chosen', k=5, quasi_identifiers=['age'], others='release').
EXISTS (WITH RECURSIVE read(text) AS (
        SELECT sql FROM duckdb_views()
        WHERE database_name = 'temp' AND __kanon_caseless(view_name) = ${view}
    UNION
        SELECT below.sql FROM read, duckdb_views() AS below
        WHERE NOT below.internal AND __kanon_has_name(read.text, below.view_name))
    SELECT 1 FROM read, duckdb_columns() AS named
    WHERE __kanon_declares(named.comment) AND __kanon_has_name(read.text, named.table_name)
    AND NOT list_contains(${given}, __kanon_caseless(named.column_name)))

-- name: shadowed
-- Whether a temporary relation hides the table whose comments declare roles: a part of
-- anonymize('t', k=5).
EXISTS (SELECT 1 FROM duckdb_columns()
    WHERE database_name = 'temp' AND __kanon_caseless(table_name) = ${table})

-- name: role_table
-- Whether the relation of roles has changed since the planner read it: a part of
-- anonymize('t', k=5, roles='my_roles').
coalesce((SELECT list(line ORDER BY line ASC)
          FROM (SELECT row(*COLUMNS(*))::VARCHAR AS line FROM ${relation})), []) <> ${lines}
