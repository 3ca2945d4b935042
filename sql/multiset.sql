-- The values of a class with their counts, NULL and NaN among them, as a list of (value, count):
-- SELECT __kanon_multiset(disease) FROM patients.
-- They are told apart by their text, since values that compare as equal may differ (1 month and
-- 30 days, 0.0 and -0.0).
CREATE OR REPLACE TEMP MACRO __kanon_multiset(x) AS list_transform(
    list_sort(list_transform(
        map_entries(histogram({'text': encode(x::VARCHAR), 'value': x})),
        lambda e: {'last': e.key.text IS NULL, 'value': e.key.value, 'text': e.key.text,
                   'count': e.value::BIGINT}
    ), 'ASC', 'NULLS LAST'),
    lambda m: {'value': m.value, 'count': m.count});
