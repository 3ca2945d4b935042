"""Columns of a made-up table, with the hierarchy that each needs: decided by hand, before any
rule."""

from __future__ import annotations

ROWS = 400
"""Of the table."""

# a number from 0 to 399 for each row, which its own number doesn't tell
MIXED = "(i * 7919 % 400)"

COLUMNS: dict[str, tuple[str, str | None]] = {
    # name: (values by the number i of the row, the kind that it needs; None: it needs none)
    "zip": (f"10115 + {MIXED} % 90 * 37", "prefix"),
    "zip_text": (f"(10115 + {MIXED} % 90 * 37)::VARCHAR", "prefix"),
    "ZipCode": (f"601 + {MIXED} % 90 * 1097", "bins"),
    "zip_float": (f"(20115 + {MIXED} % 90 * 37)::DOUBLE", "prefix"),
    "plz": (f"lpad((1067 + {MIXED} % 90 * 911)::VARCHAR, 5, '0')", "prefix"),
    "PLZ_int": (f"1067 + {MIXED} % 90 * 911", "bins"),
    "home_postcode": (f"'SW' || {MIXED} % 40 || ' ' || {MIXED} % 4 || 'AB'", "prefix"),
    "postal_code": (f"'K' || {MIXED} % 9 || 'A ' || i % 9 || 'B0'", "prefix"),
    "codigo_postal": (f"28001 + {MIXED} % 60", "prefix"),
    "icd10": (f"'E' || (10 + {MIXED} % 70) || '.' || {MIXED} % 4", "prefix"),
    "diagnosis_icd": (f"'I' || (10 + {MIXED} % 12)", "prefix"),
    "icd9": (f"(250 + {MIXED} % 90) || '.0' || i % 9", "prefix"),
    "diagnosis": (f"'E' || (10 + {MIXED} % 70) || '.' || {MIXED} % 4", "prefix"),
    "nuts": (f"['DE', 'DEA', 'DEA2', 'DE21', 'FRK', 'FRK2'][1 + {MIXED} % 6]", "prefix"),
    "nuts3": (f"'DE' || (100 + {MIXED} % 90)", "prefix"),
    "area_code": (f"'0' || (30 + {MIXED} % 60)", "prefix"),
    "phone_area_code": (f"201 + {MIXED} % 300", "prefix"),
    "sic": (f"111 + {MIXED} % 90 * 97", "bins"),
    "naics": (f"111110 + {MIXED} % 90 * 7919", "prefix"),
    "isco08": (f"1111 + {MIXED} % 90 * 83", "prefix"),
    "county_fips": (f"1001 + {MIXED} % 90 * 613", "bins"),
    "geoid": (f"lpad((1001 + {MIXED} % 90 * 613)::VARCHAR, 5, '0')", "prefix"),
    "cpt_code": (f"99201 + {MIXED} % 60", "prefix"),
    "procedure": (f"(99201 + {MIXED} % 60)::VARCHAR", "prefix"),
    "loinc": (f"(2000 + {MIXED} % 90 * 7) || '-' || i % 10", "prefix"),
    "atc": (f"'A' || (10 + {MIXED} % 9) || 'BA0' || i % 9", "prefix"),
    "state_code": (f"1 + {MIXED} % 56", "flat"),
    "county": (f"1001 + {MIXED} % 90 * 613", "bins"),
    "STATEFP": (f"1 + {MIXED} % 56", "flat"),
    "municipality_nr": (f"1001 + {MIXED} % 90 * 13", "prefix"),
    "region_sales": (f"{MIXED} % 90", None),
    "sex_code": ("1 + i % 2", "flat"),
    "branch_code": (f"100 + {MIXED} % 90 * 9", "prefix"),
    "ward_id": (f"3 + {MIXED} % 30 * 13", "flat"),
    "CUSTOMERID": (f"3 + {MIXED} % 30 * 1300", "flat"),
    "x1": (f"10115 + {MIXED} % 30 * 2741", "prefix"),
    "x2": (f"lpad(({MIXED} % 40 * 23)::VARCHAR, 4, '0')", "prefix"),
    "born": (f"DATE '1950-01-01' + ({MIXED} * 50)::INTEGER", "date"),
    "admitted": (f"TIMESTAMP '2020-01-01' + to_hours({MIXED})", "date"),
    "discharged": (f"(DATE '2020-01-01' + ({MIXED} % 200)::INTEGER)::VARCHAR", "date"),
    "seen": (f"left((TIMESTAMP '2020-01-01' + to_hours({MIXED} % 200))::VARCHAR, 16)", "date"),
    "admission_yyyymmdd": (
        f"strftime(DATE '2020-01-01' + ({MIXED} % 60)::INTEGER, '%Y%m%d')::INTEGER", "prefix"
    ),
    "age": (f"18 + {MIXED} % 70", None),
    "age_in_days": (f"10000 + {MIXED} % 50 * 400", None),
    "year": (f"1990 + {MIXED} % 30", None),
    "birth_year": (f"1920 + {MIXED} % 90", None),
    "model": (f"1990 + {MIXED} % 30", None),
    "income": (f"20000 + {MIXED} * 191", None),
    "salary": (f"20000 + {MIXED} % 40 * 1931", None),
    "pay_grade": (f"1 + {MIXED} % 9", None),
    "wage_per_year": (f"20000 + {MIXED} % 40 * 1931", None),
    "price": (f"({MIXED} * 7 + 99) / 100.0", None),
    "house_number": (f"1 + {MIXED} % 120", None),
    "house_nr": (f"(1 + {MIXED} % 120) || ['', 'a', 'b'][1 + i % 3]", None),
    "children": ("i % 5", None),
    "visits": (f"{MIXED} % 25", None),
    "zip_count": (f"100 + {MIXED} % 90", None),
    "number_of_codes": (f"{MIXED} % 25", None),
    "percent": (f"{MIXED} % 101", None),
    "share": (f"{MIXED} / 400.0", None),
    "systolic": (f"90 + {MIXED} % 90", None),
    "birth_weight": (f"2500 + {MIXED} % 80 * 25", None),
    "platelets": (f"150000 + {MIXED} % 40 * 7000", None),
    "grams": (f"2500 + {MIXED} * 5", None),
    "balance": (f"-5000 + {MIXED} * 37", None),
    "latitude": (f"50 + {MIXED} / 100.0", None),
    "rating": ("1 + i % 5", None),
    "education_num": (f"1 + {MIXED} % 16", None),
    "patient": ("100000 + i * 3", None),
    "customer_id": (f"100000 + {MIXED} * 997", None),
    "row_number": ("i", None),
    "phone": (f"'0301' || (100000 + {MIXED} * 997)", None),
    "name": (f"'person ' || {MIXED}", None),
    "city": (f"'Town ' || {MIXED} % 30", None),
    "country": (f"['DE', 'FR', 'IT'][1 + {MIXED} % 3]", None),
    "sex": ("['f', 'm'][1 + i % 2]", None),
    "smoker": ("i % 2 = 0", None),
    "at": (f"TIME '08:00' + to_minutes({MIXED})", None),
    "amount_text": (f"(({MIXED} % 200 * 77 + 99) / 100.0)::VARCHAR", "bins"),
    "income_text": (f"(9000 + {MIXED} % 200 * 191)::VARCHAR", "bins"),
    "one": ("47906", None),
    "zip_of_nobody": ("NULL::INTEGER", None),
    "zip_with_gaps": (f"CASE WHEN i % 5 > 0 THEN 20115 + {MIXED} % 60 END", "prefix"),
    "zip_spoiled": (f"CASE WHEN i = 0 THEN 'none' ELSE (20115 + {MIXED} % 60)::VARCHAR END", None),
}
"""Each column of the table."""

LATER: dict[str, tuple[str, str | None]] = {
    "Postleitzahl": (f"(1000 + {MIXED} % 200 * 45)::VARCHAR", "prefix"),
    "CP": (f"28001 + {MIXED} % 60", "prefix"),
    "code_postal": (f"lpad(({MIXED} % 95 * 1000 + {MIXED} % 5)::VARCHAR, 5, '0')", "prefix"),
    "zip_plus4": (f"(10115 + {MIXED} % 90)||'-'||(1000 + {MIXED} % 9)", "prefix"),
    "pincode": (f"110001 + {MIXED} % 80 * 777", "prefix"),
    "CAP": (f"lpad((100 + {MIXED} % 80 * 37)::VARCHAR,5,'0')", "prefix"),
    "main_diagnosis": (f"'C'||(10 + {MIXED} % 70)||'.'||{MIXED} % 3", "prefix"),
    "ICD_9_CM": (f"(250 + {MIXED} % 90)::VARCHAR||'.'||{MIXED} % 3||'0'", "prefix"),
    "drg": (f"1 + {MIXED} % 130 * 7", "bins"),
    "ops_code": (f"'5-'||(100 + {MIXED} % 300)", "prefix"),
    "hs6": (f"lpad((10121 + {MIXED} % 80 * 977)::VARCHAR,6,'0')", "prefix"),
    "nace_rev2": (f"(10 + {MIXED} % 80)||'.'||(10 + {MIXED} % 5)", "prefix"),
    "occupation_code": (f"1111 + {MIXED} % 80 * 83", "prefix"),
    "soc": (f"(11 + {MIXED} % 40)||'-'||(1011 + {MIXED} % 8)", "prefix"),
    "cip": (f"(11 + {MIXED} % 40)||'.0'||(101 + {MIXED} % 8)", "prefix"),
    "census_tract": (f"100 + {MIXED} % 200 * 49", "bins"),
    "ags": (f"lpad((1001000 + {MIXED} % 80 * 10007)::VARCHAR,8,'0')", "prefix"),
    "iata": (f"chr(65 + ({MIXED} % 26)::int)||chr(65 + ({MIXED} % 7)::int)||'X'", None),
    "dial_prefix": (f"'0'||(30 + {MIXED} % 60)", "prefix"),
    "race_cd": (f"1 + {MIXED} % 6", "flat"),
    "hospital_id": (f"5 + {MIXED} % 40 * 211", "flat"),
    "dept": (f"100 + {MIXED} % 9 * 100", None),
    "shift": (f"1 + {MIXED} % 3", None),
    "gender": (f"{MIXED} % 2", None),
    "dob": (f"DATE '1940-01-01'+({MIXED} * 25)::int", "date"),
    "birthdate_str": (f"(DATE '1940-01-01'+({MIXED} % 200 * 25)::int)::VARCHAR", "date"),
    "ts": (f"TIMESTAMP '2024-01-01'+to_minutes({MIXED})", "date"),
    "yyyymm": (f"202001 + {MIXED} % 3 * 100 + {MIXED} % 12", None),
    "year_of_birth": (f"1930 + {MIXED} % 80", None),
    "jahr": (f"1990 + {MIXED} % 30", None),
    "alter": (f"18 + {MIXED} % 70", None),
    "anzahl": (f"{MIXED} % 30", None),
    "einkommen": (f"20000 + {MIXED} % 400 * 119", None),
    "betrag": (f"(({MIXED} % 300) * 99 + 7)/100.0", None),
    "gross_pay": (f"3000 + {MIXED} % 200 * 31", None),
    "los_days": (f"1 + {MIXED} % 40", None),
    "bmi": (f"15 + {MIXED} % 300/10.0", None),
    "cholesterol": (f"120 + {MIXED} % 200", None),
    "sqft": (f"600 + {MIXED} % 300 * 10", None),
    "lat": (f"52 + {MIXED} / 400.0", None),
    "hour": (f"{MIXED} % 24", None),
    "loan_amount": (f"1000 + {MIXED} % 50 * 500", None),
    "bonus_points": (f"10000 + {MIXED} % 30 * 2500", None),
    "step_count": (f"10000 + {MIXED} % 150 * 97", None),
    "deposit": (f"50000 + {MIXED} % 20 * 12500", None),
    "street_no": (f"1 + {MIXED} % 150", None),
    "order_id": (f"500000 + {MIXED} * 7", None),
    "uuid_like": ("md5(i::VARCHAR)", None),
    "email": (f"'u'||{MIXED}||'@x.org'", None),
    "town": (f"'T'||chr(97 + ({MIXED} % 26)::int)||'ville '||{MIXED} % 3", None),
    "occupation": (f"['Nurse','Baker','Cook'][1 + {MIXED} % 3]", None),
    "score_text": (f"({MIXED} % 90)::VARCHAR", "bins"),
    "phone_no": (f"'017'||(1000000 + {MIXED} * 71)", None),
    "blood_group": (f"['A+','B-','0+','AB+'][1 + {MIXED} % 4]", None),
    "room": (f"(100 + {MIXED} % 40)::VARCHAR", None),
    "flight": (f"'LH'||(100 + {MIXED} % 60)", None),
}
"""Columns that were written when the rules were: names in other languages, and measures that look
like codes."""

WRONG: dict[str, str | None] = {"CP": None, "room": "prefix", "flight": "prefix"}
"""Those of which the rules say something else, and what."""


def table_sql(name: str, order: str = "i ASC") -> str:
    """Makes the table."""
    every = COLUMNS | LATER
    columns = ", ".join(f'{values} AS "{column}"' for column, (values, _) in every.items())
    return f"CREATE OR REPLACE TABLE {name} AS SELECT {columns} FROM range({ROWS}) AS r(i) " + (
        f"ORDER BY {order}"
    )
