-- The digest of the rows of a stage, whatever their order: a part of anonymize_manifest('t', k=5).
-- Of each row one, of those that begin alike one together, and one of all these and of the columns.
-- A text stands behind its length in bytes and a colon, and a NULL is a hyphen, so that texts that
-- follow each other can't be taken for others.
SELECT sha256(head || coalesce(array_to_string(
            list_transform(list_sort(parts, 'ASC', 'NULLS LAST'), lambda part: part.digest), ''), ''))
    FROM (SELECT array_to_string([*COLUMNS(*)], '') AS head
          FROM (SELECT strlen(alias(COLUMNS(*))) || ':' || alias(COLUMNS(*))
                    || strlen(__kanon_type(COLUMNS(*))) || ':' || __kanon_type(COLUMNS(*))
                FROM ${one_row}))
    CROSS JOIN (
        SELECT list({'start': start, 'digest': digest}) AS parts
        FROM (SELECT digest[1:3] AS start,
                     sha256(array_to_string(list_sort(list(digest), 'ASC', 'NULLS LAST'), '')) AS digest
              FROM (${row_digests})
              GROUP BY digest[1:3]))
