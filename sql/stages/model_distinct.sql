-- At least l different values in each combination: a part of
-- anonymize('t', k=5, l=3, sensitive=['disease']).
SELECT combination, size, found >= ${l} AS passes, found::DOUBLE AS has
    FROM (SELECT combination, size, different${missing} AS found FROM __kanon_spread_${i})
