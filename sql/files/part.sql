-- A value as a part of the range of its column, for kanon_sql.anonymize_files.
round((${number} * ${unit} - ${low}) / ${span} * 1099511627776)::HUGEINT
