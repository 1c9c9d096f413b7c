// `npm run dev` in a project with functions, while their sources are saved.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { makeOwnProject, startDev, until } from "./project.mjs";

const tool = (name, needs) => ({ name, needs, description: "Does it.", inputSchema: { type: "object" } });
const entry = (tools, more = "") => `import agents from "#agents";
import { TaskObject, start } from "a2a-edge/engine";
import "./more.ts";

export { TaskObject };
export default start(agents, { describe: () => '${JSON.stringify({ tools, executors: [] })}' });
${more}`;

let project, dev, answered;
before(async () => {
  project = makeOwnProject();
  project.write("src/more.ts", "export {};\n");
  project.write("src/index.ts", entry([]));
  project.write(".dev.vars", "A=a\n");
  ({ dev, answered } = await startDev(project));
});
after(async () => {
  dev.child.kill("SIGTERM");
  await dev.ended;
  project.remove();
});

const says = (text, from = 0) => until(() => dev.output.slice(from).includes(text), `it says "${text}"; it said:\n${dev.output.slice(from)}`);
const reloads = () => dev.output.split("Local server updated and ready").length - 1;

test("tasks go on when it serves, and after each change, in the Worker of then", async () => {
  await until(async () => (await answered()).resumed === 1, "the tasks of before go on");
  const before = reloads();
  project.write("src/more.ts", "export const more = 1;\n");
  await until(() => reloads() > before, `the change is served; it said:\n${dev.output}`);
  await until(async () => (await answered()).resumed === 1, "the tasks go on");
  assert.doesNotMatch(dev.output, /_dev\/resume/, "asking is not shown");
});

test("what tools need is told once, and again when it is something else", async () => {
  const from = dev.output.length;
  project.write("src/index.ts", entry([tool("shout", ["LOUDNESS"])]));
  await says("Not set, or empty, so that what needs it fails:\n\n    LOUDNESS   tool shout\n\nSet it in .dev.vars, with the lines:\n\n    LOUDNESS=\n", from);
  const before = reloads();
  project.write("src/more.ts", "export const more = 2;\n");
  await until(() => reloads() > before, "the change is served");
  project.write("src/index.ts", entry([tool("shout", ["LOUDNESS"]), tool("whisper", ["HUSH"])]));
  await says("    HUSH       tool whisper\n    LOUDNESS   tool shout\n", from);
  assert.equal(dev.output.slice(from).split("Not set, or empty").length, 3, dev.output.slice(from));
});

test("code that cannot be bundled is told, and the Worker serves when it is mended", async () => {
  const from = dev.output.length;
  project.write("src/more.ts", "export const more = (1;\n");
  await says("Requests wait until that is mended; tasks under way go on.", from);
  assert.match(dev.output.slice(from), /^The code of the Worker cannot be bundled:\n\n {2}✘ \[ERROR\] Expected "\)" but found ";"\n\n {6}src\/more\.ts:1:\d+:\n/m);
  const before = reloads();
  project.write("src/more.ts", "export const more = 3;\n");
  await until(() => reloads() > before, `it is mended; it said:\n${dev.output.slice(from)}`);
  assert.equal((await answered()).variable, "a");
});

test("code that fails at its start is told, and the Worker is started again when its sources change", async () => {
  const from = dev.output.length;
  project.write("src/more.ts", 'throw new TypeError("executors.orders: its settings are no schema");\n');
  await says("The code of the Worker fails at its start:\n\n    executors.orders: its settings are no schema\n\nThe Worker is started again when its sources change.\n", from);
  project.write("src/more.ts", "export const more = 4;\n");
  await says("Serving at http://localhost:", from);
  assert.equal((await answered()).variable, "a");
  assert.doesNotMatch(dev.output.slice(from), /github\.com|a2a-edge serves at/);
});
