-- What is asked of a release, as its ledger keeps it: a part of
-- anonymize_ledger('t', k=5, entity='id', quasi_identifiers=['age', 'zip']).
SELECT to_json({'k': ${k}, 'against': ${against}, 'headroom': ${headroom}, 'method': ${method},
                'version': ${version}, 'shown': ${shown}, 'models': ${models},
                'columns': list_sort(list_transform(
                    columns, lambda pair: [__kanon_caseless(pair[1]), pair[2]]), 'ASC', 'NULLS LAST')
               })::VARCHAR AS options
    FROM __kanon_columns
