// docs/scale.md is what bench/costs.json makes of it.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { readTable } from "../../bench/gate/table.ts";
import { scalePage } from "../../bench/scale/page.ts";

test("docs/scale.md is computed from bench/costs.json", () => {
  const page = readFileSync(new URL("../../docs/scale.md", import.meta.url), "utf8");
  assert.equal(page, scalePage(readTable()), "docs/scale.md is not up to date; to write it again: npm run costs");
});
