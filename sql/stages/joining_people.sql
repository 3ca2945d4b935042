-- The persons that no part has that was taken before: a part of
-- anonymize('t', k=5, within=['day'], small_parts='join', entity='patient_id').
LEFT JOIN (
              SELECT rank, count(*) AS fresh
              FROM (SELECT min(rank) AS rank
                    FROM __kanon_taking JOIN __kanon_numbered
                        ON ${same}
                    JOIN __kanon_ranked USING (number)
                    GROUP BY ${entity})
              GROUP BY rank) USING (rank)
