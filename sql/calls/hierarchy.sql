-- The level table of a column: FROM hierarchy('patients', 'zip', kind='prefix').
WITH ${sound},
__kanon_values AS (SELECT ${column} FROM ${relation}),
${tree}
SELECT ${levels}
FROM (SELECT unnest(paths) AS path, generate_subscripts(paths, 1) AS place FROM __kanon_tree_1), __kanon_sound
WHERE __kanon_sound.sound
ORDER BY place ASC
