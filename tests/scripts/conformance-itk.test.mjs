// The circuits of the ITK go through us in both roles, and their section says what became of them.
import assert from "node:assert/strict";
import { test } from "node:test";
import { OURS, PEERS, TRANSPORTS, WAYS, expectedFailure, hubs, pairs } from "../conformance/itk/circuits.ts";
import { entryOf, itkSection, surprises } from "../conformance/itk/section.ts";

const all = () => [...pairs(PEERS), ...hubs(PEERS)];

test("every agent is called by us and calls us, in every way over every transport that it has", () => {
  for (const { sdk, transports } of PEERS) {
    for (const transport of transports) {
      for (const { title } of WAYS) {
        const first = pairs(PEERS).filter(({ peer, way, transport: over }) => peer.sdk === sdk && way === title && over === transport).map(({ scenario }) => scenario.sdks);
        assert.deepEqual(first, [[OURS, sdk], [sdk, OURS]], `${sdk}, ${title}, ${transport}`);
      }
    }
  }
});

test("a circuit comes back to where it began: each agent is called as often as it calls", () => {
  for (const { scenario: { name, sdks, edges } } of hubs(PEERS)) {
    const calls = (edges ?? []).map((edge) => edge.split("->"));
    for (const [index] of sdks.entries()) {
      const [out, into] = [0, 1].map((side) => calls.filter((call) => call[side] === `${index}`).length);
      assert.equal(out, into, `${name}: ${index}`);
    }
  }
  assert.equal(new Set(all().map(({ scenario }) => scenario.name)).size, all().length);
  // An agent that is not there takes its circuits with it.
  assert.deepEqual(hubs([]), []);
});

test("a circuit that fails without a reason is a surprise, and so is one that passes in spite of one", () => {
  const walked = all().map((circuit) => ({ circuit, passed: expectedFailure(circuit) === undefined }));
  assert.deepEqual(surprises(walked), []);
  assert.ok(walked.some(({ passed }) => !passed));
  assert.equal(surprises(walked.map((one) => ({ ...one, passed: !one.passed }))).length, walked.length);
  assert.deepEqual(surprises([]), ["no circuit was walked"]);
});

test("the section has a cell for both circuits of a way, and the reasons", () => {
  const walked = all().map((circuit) => ({ circuit, passed: expectedFailure(circuit) === undefined && circuit.scenario.name !== "go_v10 current, stream, JSON-RPC" }));
  const run = { revision: "abc", date: "2026-01-02", versions: { go_v10: "2.3.1" }, walked, absent: [{ peer: PEERS[0], reason: "there is no Go here" }] };
  const entry = entryOf(run, 7);
  assert.deepEqual([entry.numbers.failed, entry.numbers.deviating, entry.numbers.skipped], [1, 8, 7]);
  assert.equal(entry.deviations.length, 8);
  const text = itkSection(run, entry);
  for (const line of [
    `| circuits | **${walked.length - 9} passed, 1 failed**, 8 deviate, 7 skipped |`,
    "| Go, 1.0 (2.3.1) | JSON-RPC | passed | **failed** | passed | passed |",
    "| JavaScript, 0.3 () | HTTP+JSON | deviates | deviates | deviates | deviates |",
    "| we call each, each calls us | 7 | JSON-RPC | passed | passed | passed | passed |",
    "| Python, 1.0 | there is no Go here |",
  ]) assert.ok(text.split("\n").includes(line), `${line}\n\nin:\n${text}`);
  assert.ok(Object.values(TRANSPORTS).every((title) => text.includes(title)));
});
