-- name: refuse
-- How a query ends that is refused: SELECT __kanon_refuse('DataError', 'There are no rows. Check ...').
-- The kind is the class of the error in Python; in SQL the sentence alone is told, and signs in it
-- that a terminal would obey, such as a line break in the name of a column, as JSON writes them.
-- A sentence with a figure that is NULL is NULL, and error(NULL) would let the query go on.
CREATE OR REPLACE TEMP MACRO __kanon_refuse(kind, sentence) AS
    system.main.error(coalesce(system.main.replace(system.main.replace(
        system.main.array_slice(CAST(system.main.to_json(sentence) AS VARCHAR), 2, -2),
        '\"', '"'), '\\', '\'),
        'The release was stopped: a check failed. Nothing was released; please report this as a bug.'));

-- the same for the Python face, which reads the class from it
CREATE OR REPLACE TEMP MACRO __kanon_tell(kind, sentence) AS
    system.main.error(system.main.concat(kind, ': ', coalesce(sentence,
        'The release was stopped: a check failed. Nothing was released; please report this as a bug.')));
