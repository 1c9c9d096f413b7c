// The section of docs/conformance.md about the client of MCP says what the kit says.
import assert from "node:assert/strict";
import { test } from "node:test";
import { scenariosIn, section, unexpected, withClientSection } from "../conformance/mcp/section.ts";

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

test("the section stands within what is written by hand, and is replaced there", () => {
  const text = section("0.2", "2026-01-02", [{ revision: "r", scenarios: scenariosIn(OUTPUT) }]);
  assert.ok(text.includes("| r | tools_call | 2 | 0 |"), text);
  assert.ok(text.includes("`auth/*` (1 of r)"), text);
  const page = "# Page\n\n<!-- end of what is written by hand -->\n\nmore\n";
  const once = withClientSection(page, text);
  assert.equal(once, `# Page\n\n${text}\n<!-- end of what is written by hand -->\n\nmore\n`);
  assert.equal(withClientSection(once, text), once);
  assert.throws(() => withClientSection("# Page", text), /has no line/);
});
