-- What becomes of parts where none may be too small: a part of anonymize('t', k=5, within=['day']).
SELECT *, false AS joined FROM __kanon_numbered
