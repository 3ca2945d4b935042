-- The values of a class with their counts, NULL and NaN among them, as a list of (value, count),
-- ordered by their text: SELECT __kanon_multiset(disease) FROM patients.
-- They are told apart by their text, since values that compare as equal may differ (1 month and
-- 30 days, 0.0 and -0.0). A histogram's own order is that of the setting default_order.
CREATE OR REPLACE TEMP MACRO __kanon_by_text(entries) AS list_select(
    list_transform(entries, lambda e: {'value': e.key.value, 'count': e.value::BIGINT}),
    list_grade_up(list_transform(entries, lambda e: e.key.text), 'ASC', 'NULLS LAST'));

CREATE OR REPLACE TEMP MACRO __kanon_multiset(x) AS __kanon_by_text(
    map_entries(list_aggregate(list({'text': encode(x::VARCHAR), 'value': __kanon_plain(x)}), 'histogram')));
