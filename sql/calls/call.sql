-- One table macro per SQL call: FROM anonymize('patients', k=5, method='mdav_star').
-- k=5 lands in a positional slot, as the comparison 'k' = 5; its text is read without evaluating
-- it. A named parameter (k := 5) lands as a value.
CREATE OR REPLACE TEMP MACRO ${call}(relation := NULL, ${slots}, ${parameters}) AS TABLE
FROM query(${planner}(
    '${call}', to_json(relation)::VARCHAR, current_setting('search_path'),
    [${positional}],
    [${named}]
));
