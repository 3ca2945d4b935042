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


def table_sql(name: str, order: str = "i ASC") -> str:
    """Makes the table."""
    columns = ", ".join(f'{values} AS "{column}"' for column, (values, _) in COLUMNS.items())
    return f"CREATE OR REPLACE TABLE {name} AS SELECT {columns} FROM range({ROWS}) AS r(i) " + (
        f"ORDER BY {order}"
    )
