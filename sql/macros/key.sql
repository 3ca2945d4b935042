-- A value as the text by which it is found in a hierarchy: SELECT __kanon_key(zip) FROM patients.
-- NaN is missing and -0.0 is 0, as in __kanon_value, but for values of any type.
CREATE OR REPLACE TEMP MACRO __kanon_key(x) AS
    CASE WHEN typeof(x) IN ('FLOAT', 'DOUBLE') OR starts_with(typeof(x), 'DECIMAL')
        THEN regexp_replace(
            CASE WHEN x::VARCHAR LIKE '%nan' THEN NULL
                 WHEN x::VARCHAR = '-0.0' THEN '0' ELSE x::VARCHAR END, '\.0+$$', '')
    ELSE decode(encode(x::VARCHAR)) END;
