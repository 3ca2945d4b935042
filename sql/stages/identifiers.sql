-- Which identifiers a release still tells: a part of
-- anonymize_audit('patients', release='released', identifiers=['name']).
__kanon_all AS MATERIALIZED (  -- the columns of the source: name, distinct values, rows with a value
    SELECT names, distincts, known
    FROM (SELECT [*COLUMNS(*)] AS names
          FROM (SELECT __kanon_name(COLUMNS(*)) FROM ${one_kept}))
    CROSS JOIN (SELECT [*COLUMNS(*)] AS distincts FROM (SELECT count(DISTINCT COLUMNS(*)) FROM __kanon_kept))
    CROSS JOIN (SELECT [*COLUMNS(*)] AS known FROM (SELECT count(COLUMNS(*)) FROM __kanon_kept))
),
__kanon_numbered AS MATERIALIZED (  -- the same, one row each, and where the release has the column
    SELECT place, names[place] AS name, distincts[place] AS different,
           (SELECT count(*) FROM __kanon_kept) - known[place] AS nulls,
           __kanon_caseless(names[place]) IN (${identifiers}) AS is_identifier,
           list_position(list_transform(released, lambda shown: __kanon_caseless(shown)),
                         __kanon_caseless(names[place])) AS shown_at
    FROM (SELECT *, unnest(range(1, len(names) + 1)) AS place FROM __kanon_all)
    CROSS JOIN (SELECT any_value(names) AS released
                FROM (SELECT [*COLUMNS(*)] AS names
                      FROM (SELECT __kanon_name(COLUMNS(*)) FROM ${one_released})))
),
__kanon_suspects AS MATERIALIZED (
    -- a column that tells the identifier of each of its rows has about as many values, or more
    SELECT identifier.place AS identifier, suspect.place AS suspect, suspect.shown_at
    FROM __kanon_numbered AS identifier JOIN __kanon_numbered AS suspect
    ON suspect.different >= identifier.different - suspect.nulls
    WHERE identifier.is_identifier AND identifier.different > 1 AND suspect.different > 1
    AND NOT suspect.is_identifier AND suspect.shown_at IS NOT NULL
),
__kanon_given AS MATERIALIZED (  -- their values, and whether each is that of one identifier
    SELECT identifier, suspect, shown_at, value, count(*) AS many, __kanon_alike(person) AS one
    FROM (SELECT identifier, suspect, shown_at, cells[suspect] AS value, cells[identifier] AS person
          FROM (SELECT [*COLUMNS(*)] AS cells FROM (SELECT __kanon_key(COLUMNS(*)) FROM __kanon_kept))
          CROSS JOIN __kanon_suspects)
    WHERE value IS NOT NULL
    GROUP BY ALL
),
__kanon_determining AS MATERIALIZED (
    SELECT identifier, suspect, shown_at FROM __kanon_given GROUP BY ALL HAVING bool_and(one)
),
__kanon_shown AS MATERIALIZED (  -- the values that the release has in their place
    SELECT shown_at, value, count(*) AS many
    FROM (SELECT shown_at, cells[shown_at] AS value
          FROM (SELECT [*COLUMNS(*)] AS cells FROM (SELECT __kanon_key(COLUMNS(*)) FROM __kanon_released))
          CROSS JOIN (SELECT DISTINCT shown_at FROM __kanon_determining))
    WHERE value IS NOT NULL
    GROUP BY ALL
),
__kanon_unchanged AS (  -- each value for no more rows than in the source
    SELECT identifier, suspect
    FROM __kanon_determining JOIN __kanon_shown USING (shown_at)
    LEFT JOIN __kanon_given USING (identifier, suspect, value)
    GROUP BY ALL
    HAVING bool_and(__kanon_shown.many <= coalesce(__kanon_given.many, 0))
),
__kanon_identifiers AS (
    SELECT (SELECT list(name ORDER BY place ASC NULLS LAST) FROM __kanon_numbered
            WHERE is_identifier AND shown_at IS NOT NULL) AS released,
           (SELECT list(suspect.name || ' (' || identifier.name || ')'
                        ORDER BY suspect.place ASC NULLS LAST, identifier.place ASC NULLS LAST)
            FROM __kanon_unchanged
            JOIN __kanon_numbered AS identifier ON identifier.place = __kanon_unchanged.identifier
            JOIN __kanon_numbered AS suspect ON suspect.place = __kanon_unchanged.suspect)
           AS determined
),
