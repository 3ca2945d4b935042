{#- What the meta of columns says of their roles: `meta: {kanon: sensitive}`, or
    `meta: {kanon: {role: quasi_identifier, hierarchy: bins}}`. -#}

{% macro node_of(relation) -%}
    {%- for node in (graph.nodes.values() | list) + (graph.sources.values() | list) -%}
        {%- if node.relation_name == relation | string -%}
            {{ return(node) }}
        {%- endif -%}
    {%- endfor -%}
    {{ return(none) }}
{%- endmacro %}

{#- A list of (column, what meta says of it), of the columns of which it says something. -#}
{% macro declared(relation) -%}
    {%- set found = [] -%}
    {%- set node = kanon_sql.node_of(relation) if execute else none -%}
    {%- for name, column in (node.columns if node else {}).items() -%}
        {%- set said = column.get('meta', {}).get(
            'kanon', column.get('config', {}).get('meta', {}).get('kanon')
        ) -%}
        {%- if said is not none -%}
            {%- do found.append((name, {'role': said} if said is string else said)) -%}
        {%- endif -%}
    {%- endfor -%}
    {{ return(found) }}
{%- endmacro %}

{#- The columns to which meta gives a role; none where meta says nothing of any column. -#}
{% macro columns_with(relation, roles) -%}
    {%- set said = kanon_sql.declared(relation) -%}
    {%- set found = [] -%}
    {%- for name, kanon in said -%}
        {%- if (kanon.role or '') | lower | replace('-', '') | replace('_', '') | replace(' ', '')
               in roles -%}
            {%- do found.append(name) -%}
        {%- endif -%}
    {%- endfor -%}
    {{ return(found if found else none) }}
{%- endmacro %}

{% macro quasi_identifiers_of(relation) -%}
    {{ return(kanon_sql.columns_with(
        relation, ['quasiidentifier', 'quasiidentifiers', 'qi']
    )) }}
{%- endmacro %}

{#- A relation of roles from the meta of a model or source, for a model of its own:
    {{ kanon_sql.roles_of(ref('patients')) }}, and then
    anonymize('{{ ref("patients") }}', k=5, roles='{{ ref("patient_roles") }}'). -#}
{% macro roles_of(relation) -%}
    {%- set said = kanon_sql.declared(relation) -%}
    {%- if execute and not said -%}
        {{ exceptions.raise_compiler_error(
            "No column of " ~ relation ~ " has a role in its meta. Write for example "
            ~ "`meta: {kanon: quasi_identifier}` beside the column in a YAML file of the project."
        ) }}
    {%- endif -%}
    {%- for name, kanon in said if execute and kanon.weight is defined -%}
        {{ exceptions.raise_compiler_error(
            "The meta of " ~ name ~ " has weight. It is now column_weight."
        ) }}
    {%- endfor -%}
    select column_name, role, hierarchy, representation, column_weight
    from (values (null::varchar, null::varchar, null::varchar, null::varchar, null::double)
    {%- for name, kanon in said %},
        ({{ kanon_sql.text(name) }}, {{ kanon_sql.text(kanon.role) }}
        {%- for key in ['hierarchy', 'representation'] -%}
            , {% if kanon[key] is defined -%}
                {{ kanon_sql.text(kanon[key] if kanon[key] is string else tojson(kanon[key])) }}
            {%- else -%}null{%- endif -%}
        {%- endfor -%}
        , {{ kanon.column_weight if kanon.column_weight is defined else 'null' }})
    {%- endfor %}) as said(column_name, role, hierarchy, representation, column_weight)
    where column_name is not null
{%- endmacro %}
