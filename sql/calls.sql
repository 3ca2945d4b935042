-- name: call
-- One table macro per SQL call: FROM anonymize('patients', k=5, method='mdav_star').
-- k=5 lands in a positional slot, as the comparison 'k' = 5; its text is read without evaluating
-- it. A named parameter (k := 5) lands as a value. All names are qualified, so that no macro of the
-- caller is taken for one of them. The last argument is the database of the macros, '' of temporary ones.
CREATE OR REPLACE TEMP MACRO ${call}(relation := NULL, ${slots}, ${parameters}) AS TABLE
FROM system.main.query(system.main.${planner}(
    '${call}', system.main.to_json(relation)::VARCHAR, system.main.current_setting('search_path'),
    system.main.list_value(${positional}),
    system.main.list_value(${named}),
    system.main.current_database(), system.main.current_setting('default_collation'),
    system.main.current_connection_id(), ${home}
));
