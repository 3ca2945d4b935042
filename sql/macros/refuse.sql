-- How a query ends that is refused: SELECT __kanon_refuse('DataError', 'There are no rows. Check ...').
-- The kind is the class of the error in Python; in SQL the sentence alone is told.
CREATE OR REPLACE TEMP MACRO __kanon_refuse(kind, sentence) AS system.main.error(sentence);

-- the same for the Python face, which reads the class from it
CREATE OR REPLACE TEMP MACRO __kanon_tell(kind, sentence) AS
    system.main.error(system.main.concat(kind, ': ', sentence));
