-- A release each time that dbt runs. The ledger keeps everybody in a crowd of k over all of them.
{{ config(
    materialized='incremental',
    incremental_strategy='append',
    full_refresh=false,
    meta={'kanon': {'k': 5, 'entity': 'id'}},
    post_hook="{{ kanon_sql.enter_release(ref('people')) }}"
) }}

select * from {{ kanon_sql.next_release(ref('people')) }}
