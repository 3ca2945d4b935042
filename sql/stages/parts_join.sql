-- What becomes of parts where small ones are put together: a part of
-- anonymize('t', k=5, within=['day'], small_parts='join').
SELECT * EXCLUDE (rank, last, any_small)
           REPLACE (CASE WHEN any_small AND rank <= last THEN 0 ELSE number END AS number),
           any_small AND coalesce(rank <= last, true) AS joined
    FROM __kanon_numbered JOIN __kanon_ranked USING (number) CROSS JOIN __kanon_last
