-- What becomes of parts where small ones are left out: a part of
-- anonymize('t', k=5, within=['day'], small_parts='suppress').
SELECT * REPLACE (CASE WHEN small THEN -1 ELSE number END AS number), false AS joined
    FROM __kanon_numbered
