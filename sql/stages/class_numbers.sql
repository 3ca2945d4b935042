-- What a class releases is its number: a part of anonymize('t', k=5, method='fold',
-- representation='number', quasi_identifiers=['zip']).
SELECT DISTINCT __kanon_class, ${numbers} FROM __kanon_labelled
