-- name: people
-- The people of a population, alike ones together: a part of
-- anonymize('t', k=5, quasi_identifiers=['age'], k_map=5, population='census').
__kanon_people AS MATERIALIZED (
    SELECT count(*) AS people, types, cells
    FROM (SELECT [${types}] AS types, [${cells}] AS cells
          FROM ${population} AS __kanon
          WHERE ${where})
    GROUP BY types, cells
),

-- name: table
-- The same for the grouping, as text: a part of
-- anonymize('t', k=5, quasi_identifiers=['age'], k_map=5, population='census').
{'name': 'population',
 'names': (SELECT any_value(['people', ${names}]) FROM __kanon_people),
 'rows': (SELECT list([people::VARCHAR, ${cells}]) FROM __kanon_people)}

-- name: extent
-- What the rows of a class cover in one column: a part of
-- anonymize('t', k=5, quasi_identifiers=['age'], k_map=5, population='census').
{'low': min(cells[${j}].number), 'high': max(cells[${j}].number),
 'words': list(DISTINCT cells[${j}].category) FILTER (WHERE cells[${j}].category IS NOT NULL),
 'gap': bool_or(cells[${j}].number IS NULL AND cells[${j}].category IS NULL)} AS extent_${j}

-- name: fits
-- Whether that covers a person: a part of
-- anonymize('t', k=5, quasi_identifiers=['age'], k_map=5, population='census').
CASE WHEN cells[${j}].number IS NOT NULL
    THEN coalesce(extent_${j}.low <= cells[${j}].number AND cells[${j}].number <= extent_${j}.high, false)
    WHEN cells[${j}].category IS NOT NULL
    THEN coalesce(list_contains(extent_${j}.words, cells[${j}].category), false)
    ELSE extent_${j}.gap END

-- name: covered
-- How many people of the population each combination of released values covers: a part of
-- anonymize('t', k=5, quasi_identifiers=['age'], k_map=5, population='census').
__kanon_extents AS MATERIALIZED (
    SELECT combination, ${extents}
    FROM (SELECT __kanon_combination AS combination, [${cells}] AS cells
          FROM __kanon_labelled JOIN __kanon_combinations USING (__kanon_class))
    GROUP BY combination
),
__kanon_covered AS MATERIALIZED (  -- people of the class that covers the fewest
    SELECT min(people) AS least
    FROM (SELECT coalesce(any_value(met.people), 0) AS people
          FROM __kanon_extents LEFT JOIN (
              SELECT combination, sum(people)::BIGINT AS people
              FROM __kanon_extents CROSS JOIN __kanon_people
              WHERE ${fits}
              GROUP BY combination) AS met USING (combination)
          GROUP BY combination)
),

-- name: refused
-- Refuses a release of which a class covers too few people: a part of
-- anonymize('t', k=5, quasi_identifiers=['age'], k_map=5, population='census').
coalesce((SELECT ${broken} FROM __kanon_covered), true)
    THEN __kanon_refuse('ReleaseError', format(${said}, (SELECT least FROM __kanon_covered)))
