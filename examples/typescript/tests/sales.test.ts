import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { callTool } from "a2a-edge/testing";
import { report } from "../src/sales.ts";

/** A database with sales of two owners, as far as the tool uses one. */
function database(): D1Database {
  const sqlite = new DatabaseSync(":memory:");
  sqlite.exec("CREATE TABLE sales (owner, month, product, cents)");
  sqlite.exec("INSERT INTO sales VALUES ('key:ada', '2026-10', 'chair', 4900), ('key:ada', '2026-10', 'chair', 100), ('key:bob', '2026-10', 'desk', 9900)");
  return {
    prepare: (sql: string) => ({ bind: (...values: string[]) => ({ all: async () => ({ results: sqlite.prepare(sql).all(...values).map((row) => ({ ...row })) }) }) }),
  } as unknown as D1Database;
}

const tell = (month: string, permissions: string[]) =>
  callTool(report, { month }, { env: { SALES: database() }, caller: { id: "key:ada", owner: "key:ada", permissions } });

test("finance sees its own sales", async () => {
  const told = await tell("2026-10", ["finance"]);
  assert.deepEqual("value" in told && told.value, [{ product: "chair", cents: 5000 }]);
});

test("others see none, and a month has a form", async () => {
  assert.deepEqual(await tell("2026-10", []), { fault: "arguments", text: "only for finance" });
  const wrong = await tell("October", ["finance"]);
  assert.equal("fault" in wrong && wrong.fault, "arguments");
});
