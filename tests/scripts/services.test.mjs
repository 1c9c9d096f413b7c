// Service bindings that agents of kind `http` post to, and that wrangler.toml lacks.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { makeOwnProject } from "./project.mjs";

const FACTS = JSON.stringify({
  agents: [
    { slug: "bills", executor: { kind: "http", table: { service: "BILLS" } } },
    { slug: "bound", executor: { kind: "http", table: { service: "BOUND" } } },
    { slug: "far", executor: { kind: "http", table: { url: "https://agent.example.com" } } },
    { slug: "own", executor: { kind: "seats", table: { service: "NONE" } } },
  ],
});
const TOLD = `wrangler.toml has no service binding of these names, so that the agents that post to them fail every message:

    BILLS   agents/bills.toml

Add:

    [[services]]
    binding = "BILLS"
    service = "the name of the other Worker"`;

let project;
before(() => {
  project = makeOwnProject({ wrangler: "stand-in" });
  project.write("facts.json", FACTS);
  project.write("wrangler.toml", `${project.read("wrangler.toml")}\n[[services]]\nbinding = "BOUND"\nservice = "other"\n`);
});
after(() => project.remove());

test("start, deploy and check name a binding that is missing, and the lines to add", async () => {
  for (const [script, ...args] of [["start"], ["deploy", "--dry-run"], ["check"]]) {
    const { output } = await project.run(script, ...args);
    assert.ok(output.includes(TOLD), `${script}:\n${output}`);
  }
  assert.equal((await project.run("check")).code, 1);
});

test("nothing is said when it is bound", async () => {
  project.write("wrangler.toml", `${project.read("wrangler.toml")}\n[[services]]\nbinding = "BILLS"\nservice = "bills"\n`);
  const { code, output } = await project.run("check");
  assert.equal(code, 0, output);
  assert.doesNotMatch((await project.run("deploy", "--dry-run")).output, /service binding/);
});
