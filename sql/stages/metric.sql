-- One row of the metrics: a part of anonymize_metrics('t', k=5).
{'metric': ${name}, 'value': ${number}::DOUBLE, 'text': ${text}::VARCHAR, 'unit': ${unit},
 'description': ${description}}
