-- The digest of each row of a stage, in its order: a part of the digest of all.
SELECT sha256(array_to_string([*COLUMNS(*)], '')) AS digest
              FROM (SELECT coalesce(strlen(COLUMNS(*)) || ':' || COLUMNS(*), '-')
                    FROM (SELECT __kanon_text(COLUMNS(*)) FROM ${stage}))
