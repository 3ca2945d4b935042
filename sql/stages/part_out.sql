-- Whether more rows of a part are left out than may be: a part of
-- anonymize('t', k=5, within=['day'], suppress=0.01).
(SELECT coalesce(bool_or("${out}" > floor(${share}::DOUBLE * "${all}")), false)
    FROM __kanon_left WHERE part >= 0)
