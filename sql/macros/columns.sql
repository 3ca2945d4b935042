-- Facts about a column, whatever its type: SELECT __kanon_describe(COLUMNS(*)) FROM patients.
CREATE OR REPLACE TEMP MACRO __kanon_has(x) AS typeof(x) IS NOT NULL;

CREATE OR REPLACE TEMP MACRO __kanon_blank(x) AS NULL;

CREATE OR REPLACE TEMP MACRO __kanon_name(x) AS alias(x);

CREATE OR REPLACE TEMP MACRO __kanon_describe(x) AS [alias(x), typeof(x)];

-- NaN is a missing value, as NULL is, and -0.0 is 0.0
CREATE OR REPLACE TEMP MACRO __kanon_value(x) AS
    CASE WHEN typeof(x) IN ('FLOAT', 'DOUBLE') THEN
        CASE WHEN x::VARCHAR LIKE '%nan' THEN NULL
             WHEN x::VARCHAR = '-0.0' THEN cast_to_type('0.0', x)
             ELSE x END
    ELSE x END;

-- one cell of the encoding: a number for what has an order, else a category
CREATE OR REPLACE TEMP MACRO __kanon_cell
    (x DOUBLE) AS {'number': CASE WHEN isnan(x) THEN NULL ELSE x END, 'category': NULL::VARCHAR},
    (x DATE) AS {
        'number': CASE WHEN isinf(x) THEN 'inf'::DOUBLE ELSE (x - DATE '1970-01-01')::DOUBLE END,
        'category': NULL::VARCHAR},
    (x TIMESTAMP) AS {
        'number': CASE WHEN isinf(x) THEN 'inf'::DOUBLE ELSE epoch_us(x)::DOUBLE END,
        'category': NULL::VARCHAR},
    (x TIMESTAMPTZ) AS {
        'number': CASE WHEN isinf(x) THEN 'inf'::DOUBLE ELSE epoch_us(x)::DOUBLE END,
        'category': NULL::VARCHAR},
    (x TIME) AS {'number': epoch_us(x)::DOUBLE, 'category': NULL::VARCHAR},
    (x) AS {'number': NULL::DOUBLE, 'category': x::VARCHAR};
