-- Whether the query means what it says: a part of every call. All names are qualified.
__kanon_sound AS MATERIALIZED (  -- refuses macros and settings that would change what follows
    SELECT CASE
        WHEN coalesce(system.main.current_setting('default_collation'), '') <> ''
            THEN system.main.error(${collated})
        WHEN name IS NOT NULL THEN system.main.error(system.main.format(${shadowed}, name))
        ELSE true END AS sound
    FROM (${shadow})
)
