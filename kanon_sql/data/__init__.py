"""UCI Adult, the 30,162 complete rows of the extract that ARX benchmarks use (CC BY 4.0)."""
