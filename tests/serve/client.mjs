// Runs the statements of work.json with @duckdb/node-api, and prints the rows of each as text.
import { readFileSync, writeFileSync } from "node:fs";
import { DuckDBInstance } from "@duckdb/node-api";

const { statements } = JSON.parse(readFileSync("work.json", "utf8"));
const instance = await DuckDBInstance.create(":memory:", { allow_unsigned_extensions: "true" });
const connection = await instance.connect();
const told = [];
for (const statement of statements) {
  try {
    const reader = await connection.runAndReadAll(statement);
    told.push(reader.getRows().map((row) => row.map(String).join("|")));
  } catch (error) {
    told.push(`${error.message}`);
  }
}
writeFileSync(1, JSON.stringify(told));
process.exit(0);
