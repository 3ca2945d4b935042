// Runs work.json with @duckdb/node-api: the macros, and each query after its statement.
import { readFileSync } from "node:fs";
import { DuckDBInstance } from "@duckdb/node-api";

const { macros, script } = JSON.parse(readFileSync("work.json", "utf8"));
const connection = await (await DuckDBInstance.create(":memory:")).connect();
await connection.run(macros);
const told = [];
for (const [statement, query] of script) {
  await connection.run(statement);
  const reader = await connection.runAndReadAll(query);
  told.push(...reader.getRows().map((row) => row[0]));
}
console.log(JSON.stringify(told));
