// The sections of docs/conformance.md about MCP say what the kit says.
import assert from "node:assert/strict";
import { test } from "node:test";
import { serverScenariosIn, serverSection, surprises } from "../conformance/mcp/server-section.ts";
import { scenariosIn, section, unexpected } from "../conformance/mcp/section.ts";

const OUTPUT = `✓ before: 1 passed, 0 failed

=== SUITE SUMMARY ===

✓ tools_call: 2 passed, 0 failed
✗ auth/basic: 0 passed, 7 failed
✗ sse-retry: 1 passed, 2 failed, 1 warnings

Total: 3 passed, 9 failed, 0 warnings
  ✗ auth/dpop (extension)
`;

test("the scenarios are those of the summary", () => {
  assert.deepEqual(scenariosIn(OUTPUT), [
    { name: "tools_call", passed: 2, failed: 0 },
    { name: "auth/basic", passed: 0, failed: 7 },
    { name: "sse-retry", passed: 1, failed: 2 },
  ]);
  assert.deepEqual(scenariosIn("nothing"), []);
});

test("a scenario that fails is unexpected, and so is one that passes though it is left out", () => {
  const scenarios = scenariosIn(OUTPUT);
  assert.deepEqual(unexpected({ revision: "r", scenarios }), ["r sse-retry: 1 passed, 2 failed"]);
  const passes = [{ name: "tools_call", passed: 1, failed: 0 }, { name: "auth/basic", passed: 7, failed: 0 }];
  assert.deepEqual(unexpected({ revision: "r", scenarios: passes }), ["r auth/basic: 7 passed, 0 failed"]);
  assert.deepEqual(unexpected({ revision: "r", scenarios: [] }), ["r: the kit told of no scenario"]);
});

test("the section has the scenarios, and how many are left out", () => {
  const text = section("0.2", "2026-01-02", [{ revision: "r", scenarios: scenariosIn(OUTPUT) }]);
  assert.ok(text.includes("| r | tools_call | 2 | 0 |"), text);
  assert.ok(text.includes("`auth/*` (1 of r)"), text);
});

const SERVED = `=== SUMMARY ===
✓ tools-list: 4 passed, 0 failed
✗ prompts-list: 1 passed, 1 failed
✗ ping: 1 passed, 1 failed

Total: 6 passed, 2 failed
  ✗ tasks-lifecycle (extension)
`;

test("of the server, what fails without a reason is a surprise, and what passes in spite of one", () => {
  const scenarios = serverScenariosIn(SERVED);
  assert.deepEqual(scenarios.map(({ name }) => name), ["tools-list", "prompts-list", "ping"]);
  assert.deepEqual(surprises({ revision: "r", scenarios }), ["r ping: 1 passed, 1 failed, expected to pass"]);
  const passes = [{ name: "prompts-list", passed: 1, failed: 0 }];
  assert.deepEqual(surprises({ revision: "r", scenarios: passes }), ["r prompts-list: 1 passed, 0 failed, expected to fail"]);
  assert.deepEqual(surprises({ revision: "r", scenarios: [] }), ["r: the kit told of no scenario"]);
});

test("the section of the server has the scenarios, and why others are expected to fail", () => {
  const text = serverSection("0.2", "2026-01-02", [{ revision: "r", scenarios: serverScenariosIn(SERVED) }]);
  assert.ok(text.includes("| r | tools-list | 4 | 0 |") && text.includes("| `prompts-list` |"), text);
});
