-- name: hidden
-- What classes release where a column looks like an identifier: nothing of it. A part of
-- anonymize('t', k=5).
SELECT __kanon_class, __kanon_shown(COLUMNS(* EXCLUDE (__kanon_class, __kanon_hidden)), __kanon_hidden)
    FROM (${classes})
    CROSS JOIN (SELECT list_transform(grouped.hidden, lambda name: __kanon_caseless(name)) AS __kanon_hidden
                FROM __kanon_grouped)

-- name: precise
-- What classes release, with the means of columns no finer than their values: a part of
-- anonymize('t', k=5).
SELECT __kanon_class, ${others}__kanon_precise(
        ${columns}, ${columns}, __kanon_steps(__kanon_precisions, __kanon_caseless(__kanon_name(${columns}))))
    FROM (${classes}) CROSS JOIN (${precisions})

-- name: precisions
-- How fine the values of columns are, as the grouping tells it: a part of anonymize('t', k=5).
SELECT grouped.precisions AS __kanon_precisions FROM __kanon_grouped

-- name: class_id
-- What each class releases, with a number that tells nothing of its rows: a part of
-- anonymize('t', k=5, class_id=true).
SELECT *, dense_rank() OVER (
           ORDER BY md5(concat('${seed} ', __kanon_row_text(row(*COLUMNS(* EXCLUDE (__kanon_class)))))) ASC
       ) AS class_id
    FROM (${classes})

-- name: weight
-- The weight of a row, or a refusal: a part of anonymize('t', k=5, sampling_weight='w').
CASE WHEN __kanon_weighs(${weight}) THEN __kanon_weight(${weight})
    ELSE __kanon_refuse('DataError', ${said}) END::DOUBLE

-- name: classes_ordered
-- The values of each class, columns in their order in the relation: a part of
-- anonymize('t', k=5, representation={'age': 'interval', '*': 'centroid'}).
(SELECT NULL::BIGINT AS __kanon_class, __kanon_blank(${columns}) FROM __kanon_source LIMIT 0)
    UNION ALL BY NAME
    (${classes})
