-- The most frequent value that is not NULL, the smallest of those that tie:
-- SELECT __kanon_most_frequent(job) FROM patients GROUP BY ALL.
-- Counted in a list: of many aggregates histogram(x) DuckDB makes as many joins. Intervals are told
-- apart by their text, since those that compare as equal may differ (1 month and 30 days).
CREATE OR REPLACE TEMP MACRO __kanon_most_frequent(x) AS
    CASE WHEN contains(typeof(min(x)), 'INTERVAL') THEN list_sort(list_transform(
        map_entries(list_aggregate(
            list({'text': encode(x::VARCHAR), 'value': x}) FILTER (WHERE x IS NOT NULL),
            'histogram')),
        lambda e: {'rank': -(e.value::BIGINT), 'value': e.key.value, 'text': e.key.text}
    ), 'ASC', 'NULLS LAST')[1].value
    ELSE list_sort(list_transform(
        map_entries(list_aggregate(list(x), 'histogram')),
        lambda e: {'rank': -(e.value::BIGINT), 'value': e.key, 'text': encode(e.key::VARCHAR)}
    ), 'ASC', 'NULLS LAST')[1].value END;
