// Service bindings of other Workers that agents, tools and MCP servers name, and that wrangler.toml lacks.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { makeOwnProject } from "./project.mjs";

const FACTS = JSON.stringify({
  agents: [
    { slug: "bills", executor: { kind: "http", table: { service: "BILLS" } } },
    { slug: "bound", executor: { kind: "http", table: { service: "BOUND" } } },
    { slug: "far", executor: { kind: "http", table: { url: "https://agent.example.com" } } },
    { slug: "own", executor: { kind: "seats", table: { service: "NONE" } } },
    { slug: "desk", executor: { kind: "tools", table: {} }, tools: [{ name: "search", service: "ARCHIVE" }, { name: "bill", service: "BILLS" }, { name: "far", url: "https://a.example" }] },
  ],
  mcp: [{ name: "files", table: { service: "ARCHIVE", path: "/mcp" } }, { name: "bound", table: { service: "BOUND" } }, { name: "far", table: { url: "https://mcp.example" } }],
});
const TOLD = `wrangler.toml has no service binding of these names, so that what calls them fails:

    BILLS     agents/bills.toml
    ARCHIVE   the tool search of agents/desk.toml
    BILLS     the tool bill of agents/desk.toml
    ARCHIVE   [mcp.files] of remotes.toml

Add:

    [[services]]
    binding = "BILLS"
    service = "the name of the other Worker"

    [[services]]
    binding = "ARCHIVE"
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
  const bound = ["BILLS", "ARCHIVE"].map((name) => `\n[[services]]\nbinding = "${name}"\nservice = "${name.toLowerCase()}"\n`);
  project.write("wrangler.toml", project.read("wrangler.toml") + bound.join(""));
  const { code, output } = await project.run("check");
  assert.equal(code, 0, output);
  assert.doesNotMatch((await project.run("deploy", "--dry-run")).output, /service binding/);
});
