-- The values of a class with their counts, NULL and NaN among them, as a list of (value, count),
-- ordered by their text: SELECT __kanon_multiset(disease) FROM patients.
-- They are told apart by their text, since values that compare as equal may differ (1 month and
-- 30 days, 0.0 and -0.0).
CREATE OR REPLACE TEMP MACRO __kanon_multiset(x) AS list_transform(
    map_entries(histogram({'text': encode(x::VARCHAR), 'value': x})),
    lambda e: {'value': e.key.value, 'count': e.value::BIGINT});
