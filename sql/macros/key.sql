-- A value as the text by which it is found in a hierarchy: SELECT __kanon_key(zip) FROM patients.
CREATE OR REPLACE TEMP MACRO __kanon_key(x) AS
    CASE WHEN typeof(x) IN ('FLOAT', 'DOUBLE') OR starts_with(typeof(x), 'DECIMAL')
        THEN regexp_replace(__kanon_value(x)::VARCHAR, '\.0+$$', '')
    ELSE decode(encode(x::VARCHAR)) END;
