-- What privacy models look at, of one value: a part of
-- k_anonymity('release', quasi_identifiers=['age', 'zip'], sensitive=['disease']).
'label_${i}': __kanon_key(${column}), 'sorted_${i}': __kanon_value(${column}), 'number_${i}': (__kanon_cell(${column})).number
