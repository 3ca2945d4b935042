{#- How the calls of kanon_sql are told a relation: by its name, as a text. -#}

{% macro text(value) -%}
    '{{ value | string | replace("'", "''") }}'
{%- endmacro %}

{% macro name_of(model) -%}
    {%- if (model | string).lstrip().startswith('(') -%}
        {{ exceptions.raise_compiler_error(
            "kanon_sql tests a whole relation, not the rows that `where` leaves of it. Take `where` "
            ~ "out of the test, or test a view that has it."
        ) }}
    {%- endif -%}
    {{ kanon_sql.text(model) }}
{%- endmacro %}

{#- Options as they stand in a call, each after a comma; those that are none are left out. -#}
{% macro options(given) -%}
    {%- for name, value in given.items() if value is not none -%}
        , {{ name }} := {{ kanon_sql.value(value) }}
    {%- endfor -%}
{%- endmacro %}

{% macro value(given) -%}
    {%- if given is string -%}
        {{ kanon_sql.text(given) }}
    {%- elif given is boolean or given is number -%}
        {{ given | lower }}
    {%- elif given is mapping -%}
        MAP {{ '{' }}
        {%- for name, value in given.items() -%}
            {{ kanon_sql.text(name) }}: {{ kanon_sql.value(value) }}{{ ", " if not loop.last }}
        {%- endfor -%}
        {{ '}' }}
    {%- elif given is iterable -%}
        [{% for each in given %}{{ kanon_sql.value(each) }}{{ ", " if not loop.last }}{% endfor %}]
    {%- else -%}
        {{ exceptions.raise_compiler_error(
            "kanon_sql can't pass on a value of this kind. Give a text, a number, true, false, a list "
            ~ "or a mapping."
        ) }}
    {%- endif -%}
{%- endmacro %}

{#- A name as DuckDB compares it: it ignores the case of the letters A to Z alone. -#}
{% macro caseless(name) -%}
    translate({{ name }}, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz')
{%- endmacro %}
