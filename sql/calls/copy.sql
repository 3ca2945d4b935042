-- Writes a release into a file, with its manifest in the footer.
COPY ${rows} TO ${path} (
    FORMAT parquet, COMPRESSION zstd, PRESERVE_ORDER true, USE_TMP_FILE false,
    KV_METADATA {${key}: ${manifest}}
)
