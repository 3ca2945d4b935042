{#- A table that is released again and again, with a ledger: an incremental model whose options stand
    in its meta, as `meta={'kanon': {'k': 5, 'entity': 'id'}}`. Release and entry are one
    transaction. The ledger is private; its name is that of the model and `_ledger`, or `ledger`
    among the options. -#}

{% macro ledger_of(given) -%}
    {{ return(api.Relation.create(
        database=this.database, schema=given.get('ledger_schema', this.schema),
        identifier=given.get('ledger', this.identifier ~ '_ledger')
    )) }}
{%- endmacro %}

{% macro call_of_release(call, relation) -%}
    {%- set given = dict((model.config.meta or {}).get('kanon') or {}) -%}
    {%- if execute and not given -%}
        {{ exceptions.raise_compiler_error(
            "The model " ~ this ~ " says nothing of its release. Give it a config such as "
            ~ "meta={'kanon': {'k': 5, 'entity': 'id'}}."
        ) }}
    {%- endif -%}
    {%- set ledger = kanon_sql.ledger_of(given) -%}
    {%- set begun = execute and load_relation(ledger) is not none -%}
    {%- do given.pop('ledger', none) -%}
    {%- do given.pop('ledger_schema', none) -%}
    {%- if begun -%}
        {%- do given.update({'ledger': ledger | string}) -%}
    {%- elif 'headroom' not in given -%}
        {%- do given.update({'headroom': 1}) -%}
    {%- endif -%}
    {{ call }}({{ kanon_sql.name_of(relation) }}{{ kanon_sql.options(given) }})
{%- endmacro %}

{#- The next release, with its number: select * from {{ kanon_sql.next_release(ref('people')) }}. -#}
{% macro next_release(relation) -%}
    {%- set ledger = kanon_sql.ledger_of((model.config.meta or {}).get('kanon') or {}) -%}
    (
        select
            {% if execute and load_relation(ledger) is not none -%}
            (select max(release) + 1 from {{ ledger }})
            {%- else -%} 1 {%- endif -%} ::integer as release, *
        from {{ kanon_sql.call_of_release('anonymize', relation) }}
    )
{%- endmacro %}

{#- Its entry, a post_hook: post_hook="{{ kanon_sql.enter_release(ref('people')) }}". -#}
{% macro enter_release(relation) -%}
    {%- set ledger = kanon_sql.ledger_of((model.config.meta or {}).get('kanon') or {}) -%}
    {%- if execute and load_relation(ledger) is not none -%}
        insert into {{ ledger }} from
    {%- else -%}
        create table {{ ledger }} as from
    {%- endif %} {{ kanon_sql.call_of_release('anonymize_ledger', relation) }}
{%- endmacro %}
