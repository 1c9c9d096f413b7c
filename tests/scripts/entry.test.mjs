// Which entries register nothing, so that nobody but the checker has to know names.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { ENTRY } from "../../scripts/lib/config.mjs";
import { isPlain } from "../../scripts/lib/entry.mjs";
import { makeOwnProject } from "./project.mjs";

test("an entry that serves the agents alone is told from all others, however it is written", () => {
  for (const text of [
    ENTRY,
    ENTRY.replaceAll('"', "'").replaceAll(";", "").replaceAll("\n", "\r\n"),
    `\ufeff// The entry.\n/* of this\n Worker */\n${ENTRY}`,
    'import {worker,TaskObject} from "a2a-edge";\nimport agents from "#agents";\nexport default worker( {\n  agents,\n} );\nexport {\n  TaskObject,\n};\n',
  ]) {
    assert.ok(isPlain(text), text);
  }
  for (const [from, to] of [
    ["worker({ agents })", "worker({ agents, tools })"],
    ["worker({ agents })", "worker({ agents, executors: { orders } })"],
    ["worker({ agents })", "worker({ agents, fetch: () => undefined })"],
    ["export { TaskObject };", 'export { TaskObject };\nimport "./set-up.ts";'],
    ["export { TaskObject };", "export { TaskObject };\nexport class Other {}"],
    ["export default worker({ agents });", "// export default worker({ agents });\nexport default worker(parts);"],
    ["#agents", "./agents.js"],
  ]) {
    const text = ENTRY.replace(from, to);
    assert.notEqual(text, ENTRY);
    assert.ok(!isPlain(text), text);
  }
});

let project;
before(() => (project = makeOwnProject()));
after(() => project.remove());

const SHOUT = { name: "shout", needs: ["LOUDNESS"], description: "Says it loudly.", inputSchema: { type: "object" } };
const FUNCTIONS = `import agents from "#agents";
import { TaskObject, start } from "a2a-edge/engine";

export { TaskObject };
export default start(agents, { describe: () => '${JSON.stringify({ tools: [SHOUT], executors: [] })}' });
`;

test("check starts the Worker of such a project, and says what its tools need", async () => {
  assert.deepEqual(await project.run("check"), { code: 0, output: "2 agents are in order, and wrangler.toml has what a2a-edge needs.\n" });
  project.write("src/index.ts", FUNCTIONS);
  const { code, output } = await project.run("check");
  assert.equal(code, 0, output);
  assert.match(output, /^==> Asking the Worker which agents it can serve$/m);
  assert.match(output, /^The agents need these secrets or variables:\n\n {4}LOUDNESS {3}tool shout\n\n2 agents are in order/m);
});

test("check and deploy fail with what the Worker says, and end", async () => {
  for (const [text, told] of [
    [`${FUNCTIONS}\nthrow new TypeError("tools.shout: its schema\\nis no object");\n`, "The code of the Worker fails at its start:\n\n    tools.shout: its schema\n    is no object\n"],
    [FUNCTIONS.replace("describe:", "describe(:"), /^The code of the Worker cannot be bundled:\n\n {2}✘ \[ERROR\] Expected identifier but found ":"\n\n {6}src\/index\.ts:5:\d+:\n/m],
    [FUNCTIONS.replace("a2a-edge/engine", "a2a-edge/motor"), /^The code of the Worker cannot be bundled:\n\n.*a2a-edge\/motor/m],
  ]) {
    project.write("src/index.ts", text);
    for (const args of [["check"], ["deploy", "--dry-run"], ["test"]]) {
      const { code, output } = await project.run(...args);
      assert.equal(code, 1, output);
      assert.ok(told instanceof RegExp ? told.test(output) : output.includes(told), output);
      assert.doesNotMatch(output, /WARNING|github\.com|^ {4}at /m);
    }
  }
  project.write("src/index.ts", FUNCTIONS);
  project.write("agents/one.toml", "unusable");
  const { code, output } = await project.run("check");
  assert.equal(code, 1);
  assert.match(output, /These agents refuse every message, since the Worker cannot serve them:\n\n {4}one: agents\/one\.toml:1: there is no such kind\n/);
  project.write("agents/one.toml", "one 1");
});
