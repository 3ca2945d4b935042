-- Whether the column class_id of a file numbers its classes from 1 on, for kanon_sql.verify.
WITH ${sound},
__kanon_kept AS (SELECT __kanon.* FROM ${relation} AS __kanon),
__kanon_numbers AS (
    SELECT class_id, count(*) AS classes
    FROM (SELECT DISTINCT class_id, ${seen} FROM __kanon_kept) GROUP BY class_id
)
SELECT coalesce(bool_and(classes = 1 AND class_id IS NOT NULL), true)
       AND coalesce(min(class_id) = 1 AND max(class_id) = count(*), true) AS numbers
FROM __kanon_numbers, __kanon_sound WHERE __kanon_sound.sound
