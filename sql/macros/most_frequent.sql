-- The most frequent value that is not NULL, the smallest of those that tie:
-- SELECT __kanon_most_frequent(job) FROM patients GROUP BY ALL.
CREATE OR REPLACE TEMP MACRO __kanon_most_frequent(x) AS
    list_sort(list_transform(
        map_entries(histogram(x)),
        lambda e: {'rank': -(e.value::BIGINT), 'value': e.key, 'text': encode(e.key::VARCHAR)}
    ), 'ASC', 'NULLS LAST')[1].value;
