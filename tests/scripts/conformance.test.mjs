// The sections of docs/conformance.md about a2a-tck say what the reports of the kit say.
import assert from "node:assert/strict";
import { test } from "node:test";
import { newerSection, numbersOf, outcomeOf, readTests } from "../conformance/page.ts";
import { olderSection } from "../conformance/section.ts";

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

const BAD = "tests.compatibility.a.test_it.TestIt.test_bad[BAD-1-jsonrpc]";
const RUN = { branch: "1.0-dev", revision: "abc", date: "2026-01-02" };
const deviation = { test: BAD, kit: "wants 1", here: "2, as it should be" };

test("a failure that a deviation explains is counted by itself, and one that the kit expects is a failure", () => {
  const tests = readTests(JUNIT);
  assert.deepEqual(numbersOf(tests, []), { passed: 1, failed: 2, skipped: 2, deviating: 0 });
  assert.deepEqual(numbersOf(tests, [deviation]), { passed: 1, failed: 1, skipped: 2, deviating: 1 });
});

test("what was skipped is told by reason: in our words where there are some, else in the kit's", () => {
  const reasons = outcome().skipped.map(({ reason, requirements }) => [reason, requirements]);
  assert.deepEqual(reasons, [
    ['the kit: "a new reason"', ["SILENT-1"]],
    ["gRPC needs HTTP trailers, which Workers cannot send; cards declare no such interface", ["GRPC-1"]],
  ]);
});

test("the section for 1.0 has the figures of every card, the totals, and every requirement once", () => {
  const tests = readTests(JUNIT);
  const runs = [{ dialects: "all", tests, deviations: [deviation] }, { dialects: "1.0", tests, deviations: [] }];
  const text = newerSection(RUN, runs, outcome());
  for (const line of [
    "| kit | branch `1.0-dev`, revision `abc` |",
    "| with `CARD_DIALECTS=all` | **1 passed, 1 failed**, 1 deviates, 2 skipped |",
    "| with `CARD_DIALECTS=1.0` | **1 passed, 2 failed**, 2 skipped |",
    "| JSON-RPC | 1 | 3 | 1 |",
    "| MUST | 1 | 1 | 2 | 0 |",
    "| SHOULD | 0 | 1 | 0 | 0 |",
    "| MAY | 0 | 0 | 0 | 1 |",
    '| all | a.test_it.TestIt.test_expected | the kit: "SHOULD" |',
    '| 1.0 | a.test_it.TestIt.test_bad[BAD-1-jsonrpc] | the kit: "AssertionError: <1> \\| 2" |',
    "| all | a.test_it.TestIt.test_bad[BAD-1-jsonrpc] | wants 1 | 2, as it should be |",
    "The kit has no test for these of its requirements (1): NONE-1. [Tests of ours](#requirements-that-no-kit-tests) show them.",
    "| BAD-1 | MUST |  | **failed** |  |",
  ]) assert.ok(text.split("\n").includes(line), `${line}\n\nin:\n${text}`);
  for (const name of Object.keys(KIT.per_requirement)) assert.ok(text.includes(name), name);
});

test("the section for 0.3 has a column for each transport, and each deviation once", () => {
  const tests = readTests(JUNIT);
  const run = (title, deviations) => ({ title, tests, deviations });
  const text = olderSection(RUN, [run("JSON-RPC", [deviation]), run("HTTP+JSON", [deviation])]);
  for (const line of [
    "| over JSON-RPC | **1 passed, 1 failed**, 1 deviates, 2 skipped |",
    "| compatibility, a | 1 passed, 1 failed, 1 deviates, 2 skipped | 1 passed, 1 failed, 1 deviates, 2 skipped |",
    "| HTTP+JSON | tests.compatibility.a.test_it.TestIt.test_expected | SHOULD |",
    "| test_bad[BAD-1-jsonrpc] | JSON-RPC, HTTP+JSON | wants 1 | 2, as it should be |",
    '| the kit: "a new reason" | 1 | 1 |',
  ]) assert.ok(text.split("\n").includes(line), `${line}\n\nin:\n${text}`);
});
