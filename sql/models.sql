-- name: histogram
-- What privacy models look at, of one sensitive column; label is its value as text, NULL where it is
-- missing: a part of anonymize('t', k=5, l=3, sensitive=['disease']).
__kanon_histogram_${i} AS MATERIALIZED (  -- rows of each value in each combination
    ${histogram}
),
__kanon_domain_${i} AS MATERIALIZED (  -- the values of all rows in their order, a missing one last
    ${domain}
),
__kanon_whole_${i} AS MATERIALIZED (  -- all rows
    SELECT ${part}coalesce(sum(many), 0)::BIGINT AS many, count(label) AS different,
           coalesce(sum(many) FILTER (WHERE label IS NULL), 0)::BIGINT AS missing,
           count(number) > 0 AS ordered
    FROM __kanon_domain_${i}${grouped}
),
__kanon_spread_${i} AS MATERIALIZED (  -- the rows of each combination
    SELECT ${part}combination, sum(size)::BIGINT AS size, count(label) AS different,
           coalesce(sum(size) FILTER (WHERE label IS NULL), 0)::BIGINT AS missing
    FROM __kanon_histogram_${i} GROUP BY ${part}combination
),
__kanon_placed_${i} AS (  -- rows of each value in each combination, and among all rows
    SELECT ${placed}combination, __kanon_domain_${i}.label, place, size, many
    FROM __kanon_histogram_${i} JOIN __kanon_domain_${i}
        ON __kanon_histogram_${i}.label IS NOT DISTINCT FROM __kanon_domain_${i}.label${alike}
),

-- name: domain
-- The values of rows in their order, and how many rows have each: a part of
-- anonymize('t', k=5, l=3, sensitive=['disease']).
SELECT ${part}label, sum(size)::BIGINT AS many, any_value(number) AS number,
           row_number() OVER (${window}ORDER BY label IS NULL ASC, min(sorted) ASC NULLS LAST,
                                       encode(label) ASC NULLS LAST) - 1 AS place
    FROM ${histogram} GROUP BY ${part}label

-- name: paths
-- The nodes above each value of a sensitive column with a hierarchy: a part of
-- anonymize('t', k=5, t=0.2, sensitive=['disease'], hierarchies={'disease': 'groups'}).
__kanon_paths_${i} AS MATERIALIZED (
    SELECT path[1] AS leaf, path FROM (SELECT unnest(paths) AS path FROM __kanon_tree_${tree})
),

-- name: histogram_of_nodes
-- How often the nodes just above the values are in each combination, where they are not the root: a
-- part of anonymize('t', k=5, l=3, sensitive=['salary'], hierarchies={'salary': 'bins'}).
SELECT ${part}combination, node AS label, NULL::BIGINT AS sorted, NULL::DOUBLE AS number,
           sum(size)::BIGINT AS size
    FROM (SELECT ${part}combination, size, CASE WHEN len(path) > 2 THEN path[2] ELSE label END AS node
          FROM __kanon_histogram_${i} LEFT JOIN __kanon_paths_${i} ON label = leaf)
    GROUP BY ${part}combination, node

-- name: broken
-- The same of one model; a combination that its stage lacks doesn't keep it, either: a part of
-- anonymize('t', k=5, l=3, sensitive=['disease']).
SELECT ${j} AS model, ${worst} AS has, (SELECT count(*) FROM __kanon_sizes)
    - (SELECT count(*) FILTER (WHERE passes) FROM ${stage}) AS broken FROM ${stage}

-- name: values_released
-- Whose each released row is, and what models look at: a part of
-- anonymize('t', k=5, l=3, sensitive=['disease'], entity='patient_id').
SELECT ${of_part}__kanon_combination AS combination,
                             decode(encode(__kanon_key(${entity}))) AS entity,
                             decode(encode(__kanon_key(${column}))) AS label,
                             __kanon_value(${column}) AS sorted,
                             (__kanon_cell(${column})).number AS number
                      FROM __kanon_labelled JOIN __kanon_combinations USING (__kanon_class)

-- name: histogram_of_persons
-- How many persons have each sensitive value in each combination of released values, one whose rows
-- differ having none; encoded: without collation. A part of
-- anonymize('t', k=5, l=3, sensitive=['disease'], entity='patient_id').
SELECT ${part}combination, label, min(sorted) AS sorted, min(number) AS number, count(*) AS size
    FROM (SELECT ${part}combination, entity,
                 CASE WHEN labels = 1 AND missing = 0 THEN label END AS label,
                 CASE WHEN labels = 1 AND missing = 0 THEN sorted END AS sorted,
                 CASE WHEN labels = 1 AND missing = 0 THEN number END AS number
          FROM (SELECT ${part}combination, entity, count(DISTINCT label) AS labels,
                       count(*) FILTER (WHERE label IS NULL) AS missing,
                       min(label) AS label, min(sorted) AS sorted, min(number) AS number
                FROM (${rows})
                GROUP BY ${part}combination, entity))
    GROUP BY ${part}combination, label

-- name: histogram_released
-- How often each sensitive value is in each combination of released values; encoded: without
-- collation. A part of
-- anonymize('t', k=5, l=3, sensitive=['disease']).
SELECT ${of_part}__kanon_combination AS combination, decode(encode(__kanon_key(${column}))) AS label,
           min(__kanon_value(${column})) AS sorted, min((__kanon_cell(${column})).number) AS number,
           count(*) AS size
    FROM __kanon_labelled JOIN __kanon_combinations USING (__kanon_class)
    GROUP BY ${by_part}__kanon_combination, decode(encode(__kanon_key(${column})))

-- name: combinations
-- The combination of released values that each class has, by its first class: a part of
-- anonymize('t', k=5, l=3, sensitive=['disease']).
__kanon_combinations AS MATERIALIZED (
    SELECT unnest(__kanon_members) AS __kanon_class, __kanon_combination
    FROM (SELECT list(__kanon_class) AS __kanon_members,
                 min(__kanon_class) AS __kanon_combination, ${seen}
          FROM __kanon_classes GROUP BY ALL)
),

-- name: refused
-- Refuses a release that misses a model: a part of anonymize('t', k=5, l=3, sensitive=['disease']).
coalesce((SELECT broken FROM __kanon_models WHERE model = ${j}), 1) > 0
    THEN __kanon_refuse('ReleaseError', concat(
        'The release was stopped: ', (SELECT broken FROM __kanon_models WHERE model = ${j}), ${said}))

-- name: distinct
-- At least l different values in each combination: a part of
-- anonymize('t', k=5, l=3, sensitive=['disease']).
SELECT combination, size, found >= ${l} AS passes, found::DOUBLE AS has
    FROM (SELECT combination, size, different${missing} AS found FROM __kanon_spread_${i})

-- name: ranked
-- The counts of the values of each combination, the most frequent last: a part of
-- anonymize('t', k=5, l=3, diversity_kind='entropy', sensitive=['disease']).
__kanon_ranked_${i} AS MATERIALIZED (  -- missing values may count for the most frequent
    SELECT combination, size, list_concat(counts[:len(counts) - 1], [counts[len(counts)] + ${missing}]) AS counts
    FROM (SELECT combination, sum(size)::BIGINT AS size,
                 coalesce(sum(size) FILTER (WHERE label IS NULL), 0)::BIGINT AS missing,
                 list_sort(list(size)${known}, 'ASC', 'NULLS FIRST') AS counts
          FROM __kanon_histogram_${i} GROUP BY combination)
),

-- name: entropy
-- The entropy of l equally frequent values in each combination: a part of
-- anonymize('t', k=5, l=3, diversity_kind='entropy', sensitive=['disease']).
SELECT combination, size,
           coalesce((even AND different >= ${l}) OR entropy >= system.main.ln(${l}::DOUBLE) + 1e-12, false)
               AS passes,
           coalesce(CASE WHEN even THEN different ELSE system.main.exp(entropy) END, 0)::DOUBLE AS has
    FROM (SELECT combination, size, len(counts) AS different, counts[1] = counts[len(counts)] AS even,
                 system.main.ln(list_sum(counts)::DOUBLE) - list_sum(list_transform(
                     counts, lambda own: own * system.main.ln(own::DOUBLE))) / list_sum(counts) AS entropy
          FROM __kanon_ranked_${i})

-- name: recursive
-- The most frequent value of each combination less often than c times the l-th most frequent and
-- all rarer ones: a part of
-- anonymize('t', k=5, l=3, diversity_kind='recursive', c=3, sensitive=['disease']).
SELECT combination, size, coalesce(top * ${under} < ${over} * tail, false) AS passes,
           CASE WHEN tail > 0 THEN top::DOUBLE / tail::DOUBLE ELSE 'inf'::DOUBLE END AS has
    FROM (SELECT combination, size, counts[len(counts)]::HUGEINT AS top,
                 coalesce(list_sum(counts[:greatest(len(counts) - ${l} + 1, 0)]), 0)::HUGEINT AS tail
          FROM __kanon_ranked_${i})

-- name: alpha
-- No bounded value with more than its share of a combination, in millionths: a part of
-- anonymize('t', k=5, alpha=0.5, sensitive=['disease']).
SELECT combination, size,
           coalesce(fits_${j}, true) AND ${missing} * 1000000::HUGEINT <= size * ${least} AS passes,
           greatest(coalesce(most_${j}, 0), ${missing})::DOUBLE / size AS has
    FROM __kanon_held_${i}

-- name: alpha_fits
-- Whether a value keeps its bound: a part of anonymize('t', k=5, alpha=0.5, sensitive=['disease']).
(rows_of + ${missing}) * 1000000::HUGEINT <= size * coalesce(${bound}, 1000000)

-- name: held_by_alpha
-- Whether all bounded values of a combination keep their bounds, and the most of one: a part of
-- anonymize('t', k=5, alpha=0.5, sensitive=['disease']).
bool_and(${fits})${known} AS fits_${j},
           max(CASE WHEN ${bound} IS NOT NULL THEN rows_of + ${missing} END)${known} AS most_${j}

-- name: entity
-- Nobody with more than one k-th of the rows of a combination: a part of
-- anonymize('t', k=5, entity='patient_id', entity_rows='apart').
SELECT combination, size, max(rows_of) * ${k}::HUGEINT <= size AS passes,
           max(rows_of)::DOUBLE / size AS has
    FROM (SELECT combination, size AS rows_of FROM __kanon_histogram_${i})
    JOIN __kanon_spread_${i} USING (combination)
    GROUP BY combination, size

-- name: hierarchy
-- The earth mover's distance by the height of the lowest common ancestor, in whole rows: the mean over
-- the levels below the root of that at which any two nodes are 1 apart; a missing value is a node of
-- its own at each. A part of
-- anonymize('t', k=5, t=0.2, sensitive=['disease'], hierarchies={'disease': 'groups'}).
SELECT combination, size, above * ${under} <= ${over} * height * size * many AS passes,
           CASE WHEN height > 0 THEN above::DOUBLE / (height::DOUBLE * size * many) ELSE 0 END AS has
    FROM (SELECT combination, size, many, height, coalesce(sum(greatest(
                     0, rows_of::HUGEINT * many - size * rows_of_all)), 0) AS above
          FROM (SELECT ${part}combination, size::HUGEINT AS size FROM __kanon_spread_${i})
          ${join} (SELECT ${part}many::HUGEINT AS many FROM __kanon_whole_${i})${using}
          CROSS JOIN (SELECT coalesce(max(len(path)) - 1, 0) AS height FROM __kanon_paths_${i})
          LEFT JOIN (
              SELECT combination, rows_of, ${of_all} AS rows_of_all
              FROM (SELECT ${part}combination, depth, node, sum(size) AS rows_of
                    FROM (SELECT ${part}combination, size, depth, path[depth] AS node
                          FROM (SELECT ${part}combination, size, path FROM __kanon_histogram_${i}
                                LEFT JOIN __kanon_paths_${i} ON label = leaf)
                          CROSS JOIN (SELECT unnest(range(1, coalesce(max(len(path)), 1))) AS depth
                                      FROM __kanon_paths_${i}))
                    GROUP BY ${part}combination, depth, node)) USING (combination)
          GROUP BY combination, size, many, height)

-- name: held
-- What models ask of the values of each combination, and of their shares among all rows: a part of
-- anonymize('t', k=5, delta=1.5, sensitive=['disease']).
__kanon_held_${i} AS MATERIALIZED (  -- all of it at once
    SELECT ${part}combination, size, any_value(missing) AS missing, any_value(whole) AS whole,
           ${aggregates}
    FROM (SELECT ${part}combination, label, size, missing, rows_of, rows_of_all, whole,
                 rows_of::DOUBLE / size AS own, rows_of_all::DOUBLE / whole AS overall
          FROM (SELECT ${part}combination, label, size AS rows_of, many AS rows_of_all
                FROM __kanon_placed_${i})
          JOIN (SELECT ${part}combination, size, missing FROM __kanon_spread_${i}) USING (${part}combination)
          ${join} (SELECT ${part}many AS whole FROM __kanon_whole_${i})${using})
    GROUP BY ${part}combination, size
),

-- name: delta_fits
-- Whether the share of a value is near enough to that among all rows: a part of
-- anonymize('t', k=5, delta=1.5, sensitive=['disease']).
system.main.exp(-${delta}::DOUBLE) * overall * (1 + 1e-12::DOUBLE) <= own
                    AND own <= system.main.exp(${delta}::DOUBLE) * overall * (1 - 1e-12::DOUBLE)

-- name: held_by_delta
-- How many values a combination has, how far the share of one is from that among all rows, and
-- whether all are near enough: a part of anonymize('t', k=5, delta=1.5, sensitive=['disease']).
count(*) AS found_${j},
           max(abs(system.main.ln(own / overall))) AS farthest_${j},
           bool_and(${fits}) AS fits_${j}

-- name: delta
-- Every value of all rows in each combination, the logarithm of its share over that among all rows
-- between -delta and delta: a part of anonymize('t', k=5, delta=1.5, sensitive=['disease']).
SELECT combination, size,
           found_${j} = different AND fits_${j} AS passes,
           CASE WHEN found_${j} = different THEN farthest_${j} ELSE 'inf'::DOUBLE END AS has
    FROM __kanon_held_${i}
    ${join} (SELECT ${part}count(*) AS different FROM __kanon_domain_${i}${grouped})${using}

-- name: beta_basic
-- Whether a value gains no more than beta, in whole rows: a part of
-- anonymize('t', k=5, beta=2, beta_kind='basic', sensitive=['disease']).
rows_of::HUGEINT * whole * ${under} <= ${over} * rows_of_all * size

-- name: beta_enhanced
-- Whether it gains no more than beta, nor than -ln of its share among all rows: a part of
-- anonymize('t', k=5, beta=2, sensitive=['disease']).
CASE WHEN ${beta}::DOUBLE <= -system.main.ln(overall)
    THEN rows_of::HUGEINT * whole * ${under} <= ${over} * rows_of_all * size
    ELSE rows_of::HUGEINT * whole <= rows_of_all::HUGEINT * size
        OR rows_of <= size * overall * (1 - system.main.ln(overall)) * (1 - 1e-12::DOUBLE) END

-- name: held_by_beta
-- The largest gain of a value of a combination, and whether all gain little enough: a part of
-- anonymize('t', k=5, beta=2, sensitive=['disease']).
max((rows_of::HUGEINT * whole - rows_of_all::HUGEINT * size)::DOUBLE
               / (rows_of_all::HUGEINT * size)::DOUBLE) AS gain_${j},
           bool_and(${fits}) AS fits_${j}

-- name: beta
-- No value with a share of a combination that is above its share among all rows by more than beta
-- times that: a part of anonymize('t', k=5, beta=2, sensitive=['disease']).
SELECT combination, size, fits_${j} AS passes, gain_${j} AS has FROM __kanon_held_${i}

-- name: held_by_equal
-- The rows of a combination by which its values are above their shares among all rows, times all
-- rows: a part of anonymize('t', k=5, t=0.2, closeness='equal', sensitive=['disease']).
sum(greatest(0, rows_of::HUGEINT * whole - size::HUGEINT * rows_of_all)) AS above_${j}

-- name: equal
-- The earth mover's distance at which any two values are 1 apart, in whole rows: a part of
-- anonymize('t', k=5, t=0.2, closeness='equal', sensitive=['disease']).
SELECT combination, size::HUGEINT AS size, above_${j} * ${under} <= ${over} * size::HUGEINT * whole AS passes,
           above_${j}::DOUBLE / (size::DOUBLE * whole) AS has
    FROM __kanon_held_${i}

-- name: position
-- Where a number lies between the least, at 0, and the largest, at 1: a part of
-- anonymize('t', k=5, t=0.2, closeness='numeric', sensitive=['salary']).
coalesce((number - system.main.min(number) OVER (${window})) / nullif(system.main.max(number) OVER (${window}) - system.main.min(number) OVER (${window}), 0), 0)

-- name: line
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

-- name: model_line
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

-- name: by_type
-- The distance along the line for numbers, dates and times, else the equal one: a part of
-- anonymize('t', k=5, t=0.2, sensitive=['disease']).
SELECT combination, size, passes, has FROM (
    ${ordered}
    ) WHERE (SELECT ${ordered_of} FROM __kanon_whole_${i})
    UNION ALL
    SELECT combination, size, passes, has FROM (
    ${equal}
    ) WHERE NOT (SELECT ${ordered_of} FROM __kanon_whole_${i})

-- name: stages
-- How many combinations of released values don't keep each model, and what the worst has: a part of
-- anonymize('t', k=5, l=3, sensitive=['disease']).
__kanon_models AS MATERIALIZED (
    ${models}
),
