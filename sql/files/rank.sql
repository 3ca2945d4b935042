-- Where the category of a row stands among all, for kanon_sql.anonymize_files.
 LEFT JOIN ${table} ON ${category} = ${table}.__kanon_word
