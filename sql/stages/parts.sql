-- The parts: each combination of values of the columns of within, numbered in the order of these,
-- with its rows; and the rows that take part, each with the number of its part. A part of
-- anonymize('t', k=5, within=['day']).
__kanon_found AS MATERIALIZED (  -- the combinations that are there
    SELECT count(*) AS "rows", ${persons} AS persons, ${found}
    FROM __kanon_taking GROUP BY ALL
),
__kanon_numbered AS MATERIALIZED (  -- their numbers, and which of them are too small
    SELECT row_number() OVER (ORDER BY ${order}) AS number, ${small} AS small, *
    FROM __kanon_found
),
${joining}__kanon_parts AS MATERIALIZED (  -- what becomes of them; -1 is left out, 0 put together
    ${parts}
),
__kanon_kept AS NOT MATERIALIZED (  -- the rows that take part, read anew by each, not held twice
    SELECT __kanon_taking.* REPLACE (${replaced})
    FROM __kanon_taking JOIN __kanon_parts
        ON ${same}
),
