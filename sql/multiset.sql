-- The values of a class with their counts, NULL and NaN among them, as a list of (value, count):
-- SELECT __kanon_multiset(disease) FROM patients.
CREATE OR REPLACE TEMP MACRO __kanon_multiset(x) AS list_concat(
    list_concat(
        list_transform(
            map_entries(histogram(__kanon_value(x))),
            lambda e: {'value': e.key, 'count': e.value::BIGINT}),
        CASE WHEN count(x) > count(__kanon_value(x)) THEN [{
            'value': any_value(x) FILTER (WHERE __kanon_value(x) IS NULL),
            'count': count(x) - count(__kanon_value(x))
        }] ELSE [] END),
    CASE WHEN count(*) > count(x) THEN [{
        'value': any_value(x) FILTER (WHERE x IS NULL), 'count': count(*) - count(x)
    }] ELSE [] END);
