-- How many published centers of each part are a row of it, NULL equal to NULL: a part of
-- anonymize_metrics('t', k=5, method='r_gather', within=['day'], by_part=true).
LEFT JOIN (
        SELECT part, count(DISTINCT center) FILTER (WHERE there) AS centers_verbatim
        FROM (SELECT part, center, row(part, center) IN (
                         SELECT row(__kanon_secrets[len(__kanon_secrets)].number::BIGINT, cells)
                         FROM __kanon_cells) AS there
              FROM __kanon_centers
              JOIN (SELECT DISTINCT __kanon_class, __kanon_part AS part FROM __kanon_labelled)
                  USING (__kanon_class))
        GROUP BY part) USING (part)
