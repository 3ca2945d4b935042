-- What privacy models look at, of one value; encoded: without collation. A part of
-- k_anonymity('release', quasi_identifiers=['age', 'zip'], sensitive=['disease']).
'label_${i}': decode(encode(__kanon_key(${column}))), 'sorted_${i}': __kanon_value(${column}), 'number_${i}': (__kanon_cell(${column})).number
