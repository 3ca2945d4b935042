-- How far the values of a combination are moved along the line of all values. Between two of its own
-- values its counts don't change and those of all rows only grow, so that one place parts what lies
-- above from what lies below: that and prefix sums give each piece at once. Aggregates over windows
-- are qualified: of a macro in their place DuckDB would speak in words of its own. A part of
-- anonymize('t', k=5, t=0.2, closeness='ordered', sensitive=['salary']).
__kanon_line_${j} AS MATERIALIZED (  -- of each value: rows with it or a lower one, and sums of these
    SELECT ${part}place, whole, upto, position, gap,
           coalesce(system.main.sum(upto) OVER lower, 0) AS area,
           coalesce(system.main.sum(upto::DOUBLE / whole * gap) OVER lower, 0) AS moment
    FROM (SELECT ${part}place, position, upto::HUGEINT AS upto, whole::HUGEINT AS whole,
                 coalesce(system.main.min(position) OVER (
                     ${window}ORDER BY place ASC ROWS BETWEEN 1 FOLLOWING AND 1 FOLLOWING), position)
                     - position AS gap
          FROM (SELECT ${part}place, ${position} AS position, system.main.sum(many) OVER (${window}) AS whole,
                       system.main.sum(many) OVER (${window}ORDER BY place ASC ROWS UNBOUNDED PRECEDING) AS upto
                FROM __kanon_domain_${i}${known}))
    WINDOW lower AS (${window}ORDER BY place ASC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
),
__kanon_own_${j} AS (  -- of each value of a combination: its rows with it or a lower one
    SELECT ${part}combination, place, position, area, moment, whole,
           seen::HUGEINT AS seen, total::HUGEINT AS total,
           coalesce(system.main.min(place) OVER next, last_place) AS next_place,
           coalesce(system.main.min(position) OVER next, last_position) AS next_position,
           coalesce(system.main.min(area) OVER next, last_area) AS next_area,
           coalesce(system.main.min(moment) OVER next, last_moment) AS next_moment
    FROM (SELECT *, system.main.sum(size) OVER (PARTITION BY combination) AS total,
                 system.main.sum(size) OVER (
                     PARTITION BY combination ORDER BY place ASC ROWS UNBOUNDED PRECEDING) AS seen
          FROM (SELECT ${part}combination, place, size FROM __kanon_placed_${i}${known})
          JOIN __kanon_line_${j} USING (${part}place))
    ${join} (SELECT ${part}max(place) AS last_place, max(position) AS last_position,
                       max(area) AS last_area, max(moment) AS last_moment
                FROM __kanon_line_${j}${grouped})${using}
    WINDOW next AS (
        PARTITION BY combination ORDER BY place ASC ROWS BETWEEN 1 FOLLOWING AND 1 FOLLOWING)
),
__kanon_parted_${j} AS (  -- where the share of all rows passes that of the combination
    SELECT own.* EXCLUDE (whole), seen * own.whole AS level,
           CASE WHEN line.place IS NULL OR line.place < own.place THEN own.place
                WHEN line.place >= next_place THEN next_place ELSE line.place + 1 END AS x,
           CASE WHEN line.place IS NULL OR line.place < own.place THEN own.position
                WHEN line.place >= next_place THEN next_position
                ELSE line.position + line.gap END AS position_x,
           CASE WHEN line.place IS NULL OR line.place < own.place THEN own.area
                WHEN line.place >= next_place THEN next_area ELSE line.area + line.upto END AS area_x,
           CASE WHEN line.place IS NULL OR line.place < own.place THEN own.moment
                WHEN line.place >= next_place THEN next_moment
                ELSE line.moment + line.upto::DOUBLE / line.whole * line.gap END AS moment_x
    FROM __kanon_own_${j} AS own
    ASOF LEFT JOIN __kanon_line_${j} AS line ON ${and_part}seen * own.whole // total >= line.upto
),
__kanon_moved_${j} AS MATERIALIZED (  -- ranks: times total times whole; gaps: as a share
    SELECT combination,
           any_value(total) * min(area) + sum(
               level * (x - place) - total * (area_x - area)
               + total * (next_area - area_x) - level * (next_place - x)) AS ranks,
           min(moment) + sum(
               seen::DOUBLE / total * (position_x - position) - (moment_x - moment)
               + (next_moment - moment_x) - seen::DOUBLE / total * (next_position - position_x)
               ORDER BY place ASC) AS gaps
    FROM __kanon_parted_${j} GROUP BY combination
),
