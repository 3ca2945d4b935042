-- Refuses parts that are too small: a part of anonymize('t', k=5, within=['day']).
__kanon_refuse('DataError', (
    SELECT format(${said}, count(*) FILTER (WHERE small), count(*),
                  coalesce(sum("rows") FILTER (WHERE small), 0)::BIGINT)
    FROM __kanon_parts))
