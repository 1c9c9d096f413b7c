// docs/conformance.md says what the reports of the kit say.
import assert from "node:assert/strict";
import { test } from "node:test";
import { outcomeOf, page, readTests } from "../conformance/page.ts";
import { clientSectionIn, sectionIn, withSection } from "../conformance/section.ts";

const id = (name) => `tests/compatibility/a/test_it.py::TestIt::${name}`;
const requirement = (status, names, level = "MUST") => ({
  level, status, transports: { jsonrpc: status === "NOT TESTED" ? "" : status }, test_ids: names.map(id),
});
const KIT = {
  per_requirement: {
    "GOOD-1": requirement("PASS", ["test_good"]),
    "BAD-1": requirement("FAIL", ["test_bad[BAD-1-jsonrpc]"]),
    "BAD-2": requirement("FAIL", ["test_expected"], "SHOULD"),
    "SILENT-1": requirement("FAIL", ["test_silent"]),
    "GRPC-1": requirement("SKIPPED", ["test_grpc"]),
    "NONE-1": requirement("NOT TESTED", [], "MAY"),
  },
  per_transport: { jsonrpc: { passed: 1, failed: 3, skipped: 1 } },
};
const testcase = (name, inside = "") => `<testcase classname="tests.compatibility.a.test_it.TestIt" name="${name}" time="0.1">${inside}</testcase>`;
const JUNIT = `<?xml version="1.0"?><testsuites><testsuite>
<testcase classname="tests.compatibility.a.test_it.TestIt" name="test_good" time="0.1" />
${testcase("test_bad[BAD-1-jsonrpc]", '<failure message="AssertionError: &lt;1&gt; | 2&#10;more">long</failure>')}
${testcase("test_expected", '<skipped type="pytest.xfail" message="SHOULD" />')}
${testcase("test_silent", '<skipped type="pytest.skip" message="a new reason">x.py:1: a new reason</skipped>')}
${testcase("test_grpc", '<skipped type="pytest.skip" message="gRPC transport not configured">x.py:2</skipped>')}
</testsuite></testsuites>`;

const outcome = () => outcomeOf(KIT, readTests(JUNIT));

test("failures are told with their reason, also those that the kit expects", () => {
  assert.deepEqual(outcome().failed, [
    { reason: 'the kit: "AssertionError: <1> | 2"', tests: ["tests.compatibility.a.test_it.TestIt.test_bad[BAD-1-jsonrpc]"], requirements: ["BAD-1"] },
    { reason: 'the kit: "SHOULD"', tests: ["tests.compatibility.a.test_it.TestIt.test_expected"], requirements: ["BAD-2"] },
  ]);
});

test("what was skipped is told by reason: in our words where there are some, else in the kit's", () => {
  const reasons = outcome().skipped.map(({ reason, requirements }) => [reason, requirements]);
  assert.deepEqual(reasons, [
    ['the kit: "a new reason"', ["SILENT-1"]],
    ["gRPC needs HTTP trailers, which Workers cannot send; cards declare no such interface", ["GRPC-1"]],
  ]);
});

test("the page has the totals, and every requirement once", () => {
  const text = page({ branch: "1.0-dev", revision: "abc", date: "2026-01-02" }, outcome());
  for (const line of [
    "| kit | branch `1.0-dev`, revision `abc` |",
    "| tests | **1 passed, 2 failed**, 2 skipped |",
    "| JSON-RPC | 1 | 3 | 1 |",
    "| MUST | 1 | 1 | 2 | 0 |",
    "| SHOULD | 0 | 1 | 0 | 0 |",
    "| MAY | 0 | 0 | 0 | 1 |",
    '| the kit: "AssertionError: <1> \\| 2" | a.test_it.TestIt.test_bad[BAD-1-jsonrpc] | BAD-1 |',
    "The kit has no test for these of its requirements (1): NONE-1.",
    "| BAD-1 | MUST |  | **failed** |  |",
  ]) assert.ok(text.split("\n").includes(line), `${line}\n\nin:\n${text}`);
  for (const name of Object.keys(KIT.per_requirement)) assert.ok(text.includes(name), name);
});

test("what is written by hand about servers stays in the page, before what an older kit says", () => {
  const client = "<!-- written by hand: servers that our client calls -->\n\n## Servers\n\n<!-- end of what is written by hand -->\n";
  const older = "<!-- written by npm run conformance with the branch 0.3.x -->\n\nold\n\n<!-- end -->\n";
  const before = `# Conformance\n\n${client}\n${older}`;
  assert.equal(clientSectionIn(before), client);
  assert.equal(clientSectionIn("# Conformance"), "");
  assert.equal(withSection(before, older.replace("old", "new")), before.replace("old", "new"));
  assert.equal(withSection(`# New\n\n${clientSectionIn(before)}`, sectionIn(before)), before.replace("Conformance", "New"));
});
