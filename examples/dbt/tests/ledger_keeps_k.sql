-- depends_on: {{ ref('monthly') }}
select * from ledger_check('{{ ref("monthly") | replace("monthly", "monthly_ledger") }}', k=5)
where not keeps_presence
