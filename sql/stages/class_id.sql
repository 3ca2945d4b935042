-- What each class releases, with a number that tells nothing of its rows: a part of
-- anonymize('t', k=5, class_id=true).
SELECT *, dense_rank() OVER (ORDER BY md5(concat('${seed} ', row(*COLUMNS(* EXCLUDE (__kanon_class)))::VARCHAR)) ASC) AS class_id
    FROM (${classes})
