-- The earth mover's distance along the line of all values: in whole ranks where none is missing. A
-- part of anonymize('t', k=5, t=0.2, closeness='ordered', sensitive=['salary']).
SELECT combination, size,
           CASE WHEN ${exact} THEN coalesce(ranks * ${under} <= ${over} * steps * size * whole, false)
                WHEN steps <= 0 AND absent = 0 THEN true
                ELSE away <= ${t}::DOUBLE - 1e-12 END AS passes,
           CASE WHEN ${exact} AND steps > 0
                THEN ranks::DOUBLE / (steps::DOUBLE * size * whole) ELSE away END AS has
    FROM (SELECT *, abs(missing / size - absent / whole) + least(
                     1 - missing / size, 1 - absent / whole) * coalesce(${known}, 0) AS away
          FROM (SELECT ${part}combination, size::HUGEINT AS size, ${missing}::DOUBLE AS missing
                FROM __kanon_spread_${i})
          ${join} (SELECT ${part}many::HUGEINT AS whole, different${added} - 1 AS steps,
                             ${absent}::DOUBLE AS absent
                      FROM __kanon_whole_${i})${using}
          LEFT JOIN __kanon_moved_${j} USING (combination))
