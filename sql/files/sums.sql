-- Sums of a column and of its squares in whole numbers, which no order of the rows changes, for
-- kanon_sql.anonymize_files: its values as parts of 2^40 of its range.
{'sum': sum(${part})::VARCHAR, 'squares': sum(${part} * ${part})::VARCHAR}
