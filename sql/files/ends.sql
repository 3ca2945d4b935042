-- What the scale of a column of numbers begins with, for kanon_sql.anonymize_files.
{'known': count(${number}), 'infinite': count(*) FILTER (isinf(${number})),
 'low': min(${number}), 'high': max(${number})}
