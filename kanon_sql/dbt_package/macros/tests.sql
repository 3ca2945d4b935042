{#- Generic tests. Each fails by the row of k_anonymity that shows why; a relation without rows
    passes. Which columns are quasi-identifiers is said in the test, in the meta of columns, or in
    their descriptions with persist_docs; where nobody says, all columns are. -#}

{% macro measured(model, given) -%}
    {%- if given.quasi_identifiers is none -%}
        {%- do given.update({'quasi_identifiers': kanon_sql.quasi_identifiers_of(model)}) -%}
    {%- endif -%}
    k_anonymity({{ kanon_sql.name_of(model) }}{{ kanon_sql.options(given) }})
{%- endmacro %}

{% test k_anonymous(model, k, quasi_identifiers=none, entity=none) %}
    select * from {{ kanon_sql.measured(model, {
        'k': k, 'quasi_identifiers': quasi_identifiers, 'entity': entity}) }}
    {#- of rows, and of persons where there is an entity, also one that a column comment declares -#}
    where "rows" > 0 and coalesce(greatest(*columns('^classes_below_k(_persons)?$')), 1) > 0
{% endtest %}

{% test l_diverse(model, l, column_name=none, sensitive=none, quasi_identifiers=none, c=none,
                  diversity_kind=none, sensitive_nulls=none) %}
    {%- set columns = kanon_sql.sensitive_of(model, column_name, sensitive) %}
    select * from {{ kanon_sql.measured(model, {
        'sensitive': columns, 'l': kanon_sql.each(columns, l), 'c': c,
        'diversity_kind': diversity_kind, 'quasi_identifiers': quasi_identifiers,
        'sensitive_nulls': sensitive_nulls}) }}
    where {{ kanon_sql.violated(columns) }}
{% endtest %}

{% test t_close(model, t, column_name=none, sensitive=none, quasi_identifiers=none,
                closeness=none, sensitive_nulls=none) %}
    {%- set columns = kanon_sql.sensitive_of(model, column_name, sensitive) %}
    select * from {{ kanon_sql.measured(model, {
        'sensitive': columns, 't': kanon_sql.each(columns, t), 'closeness': closeness,
        'quasi_identifiers': quasi_identifiers, 'sensitive_nulls': sensitive_nulls}) }}
    where {{ kanon_sql.violated(columns) }}
{% endtest %}

{#- The sensitive columns of a test: the one that it stands beside, those that it names, or those
    of the meta; none where that says nothing. -#}
{% macro sensitive_of(model, column_name, sensitive) -%}
    {%- if column_name is not none -%}
        {{ return([column_name]) }}
    {%- elif sensitive is string -%}
        {{ return([sensitive]) }}
    {%- endif -%}
    {{ return(sensitive or kanon_sql.columns_with(model, ['sensitive'])) }}
{%- endmacro %}

{#- Of a row of k_anonymity, one per sensitive column: whether classes break what is asked. -#}
{% macro violated(columns) -%}
    "rows" > 0 and not coalesce(classes_violating = 0, false)
    {%- if columns is not none %}
        and {{ kanon_sql.caseless('sensitive') }} in (
            {%- for name in columns -%}
                {{ kanon_sql.caseless(kanon_sql.text(name)) }}{{ ", " if not loop.last }}
            {%- endfor -%}
        )
    {%- endif -%}
{%- endmacro %}

{#- What is asked of each of some columns, as one mapping. -#}
{% macro each(columns, asked) -%}
    {%- if columns is none or asked is mapping -%}
        {{ return(asked) }}
    {%- endif -%}
    {%- set found = {} -%}
    {%- for name in columns -%}
        {%- do found.update({name: asked}) -%}
    {%- endfor -%}
    {{ return(found) }}
{%- endmacro %}

{#- Columns that identify persons: declared so, or all different. `allowed` are looked over. -#}
{% test no_identifier(model, allowed=[]) %}
    select column_name, column_type, role, suggested_role, distinct_values
    from anonymize_roles({{ kanon_sql.name_of(model) }})
    where (role in ('identifier', 'entity') or suggested_role in ('identifier', 'entity'))
    {%- for name in allowed %}
        and {{ kanon_sql.caseless('column_name') }} <> {{ kanon_sql.caseless(kanon_sql.text(name)) }}
    {%- endfor %}
    {%- for name in kanon_sql.columns_with(
        model, ['identifier', 'identifiers', 'entity']
    ) or [] %}
    union all by name select {{ kanon_sql.text(name) }} as column_name, 'identifier' as role
    {%- endfor %}
{% endtest %}
