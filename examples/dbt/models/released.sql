select * from anonymize(
    '{{ ref("people") }}', k=5, l={'occupation': 2}, t={'salary_class': 0.5},
    representation='rounded'
)
