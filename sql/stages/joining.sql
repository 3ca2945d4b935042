-- Which parts are put together: the small ones, and one that has the values of joined ones already;
-- then the others, the smallest first, until it is enough. A part of
-- anonymize('t', k=5, within=['day'], small_parts='join').
__kanon_ranked AS MATERIALIZED (  -- the order in which they are taken
    SELECT number, row_number() OVER (ORDER BY NOT needed ASC, ${size} ASC, number ASC) AS rank, needed
    FROM (SELECT *, small OR (${starred}) AS needed FROM __kanon_numbered)
),
__kanon_grown AS (  -- what those have together that are taken up to each
    SELECT rank, needed, system.main.sum("rows") OVER upto AS "rows", system.main.sum(persons) OVER upto AS persons
    FROM (SELECT rank, needed, "rows", ${fresh} AS persons
          FROM __kanon_ranked JOIN __kanon_numbered USING (number)${people})
    WINDOW upto AS (ORDER BY rank ASC ROWS UNBOUNDED PRECEDING)
),
__kanon_last AS MATERIALIZED (  -- the last that is taken, NULL where all together are too few
    SELECT (SELECT count(*) > 0 FROM __kanon_numbered WHERE small) AS any_small,
           (SELECT min(rank) FROM __kanon_grown WHERE NOT (${small})
            AND rank >= (SELECT count(*) FROM __kanon_ranked WHERE needed)) AS last
),
