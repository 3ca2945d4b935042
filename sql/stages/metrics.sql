-- All metrics, as a list: a part of anonymize_metrics('t', k=5).
list_concat([
    ${rows}
], list_transform(
    from_json(measured -> 'attributes', '[{"name": "VARCHAR", "ncp": "DOUBLE", "grouping": "DOUBLE"}]'),
    lambda attribute: {
        'metric': 'ncp (' || attribute.name || ')', 'value': attribute.ncp,
        'text': NULL::VARCHAR, 'unit': ${attribute_unit}, 'description': ${attribute_text}}
), list_transform(
    from_json(measured -> 'attributes', '[{"name": "VARCHAR", "ncp": "DOUBLE", "grouping": "DOUBLE"}]'),
    lambda attribute: {
        'metric': 'ncp_grouping (' || attribute.name || ')',
        'value': (attribute.grouping * (measured ->> 'rows')::DOUBLE
                  + rows_in - (measured ->> 'rows')::DOUBLE) / rows_in,
        'text': NULL::VARCHAR, 'unit': ${attribute_unit}, 'description': ${grouping_text}}
), list_transform(
    from_json(grouped -> 'notices', '["VARCHAR"]'),
    lambda notice: {
        'metric': 'notice', 'value': NULL::DOUBLE, 'text': notice, 'unit': '',
        'description': ${notice_text}}
), list_transform(
    from_json(measured -> 'attributes', '[{"name": "VARCHAR", "verbatim": "DOUBLE"}]'),
    lambda attribute: {
        'metric': ${verbatim_name} || ' (' || attribute.name || ')', 'value': ${verbatim},
        'text': NULL::VARCHAR, 'unit': ${verbatim_unit}, 'description': ${verbatim_text}}
))
