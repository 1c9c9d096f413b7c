// The types of a project: names of its files, those of its bindings, and the check of its sources.
import assert from "node:assert/strict";
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { makeOwnProject, root, startDev, until } from "./project.mjs";

const FACTS = {
  agents: [{ slug: "poet", needs: [{ name: "POET_KEY", by: ["executor poet"], or: ["OLD_KEY"] }] }, { slug: "atlas" }],
  remotes: [{ name: "weather", needs: [{ name: "WEATHER_KEY", by: ["remote weather"] }] }],
  mcp: [{ name: "files" }],
};

let project;
before(() => {
  project = makeOwnProject();
  symlinkSync(join(root, "node_modules", "typescript"), project.at("node_modules", "typescript"));
  project.write("facts.json", JSON.stringify(FACTS));
  project.write(".dev.vars.example", "# Secrets\nEXAMPLE_KEY=\n");
  project.write("tests/agents.test.mjs", "");
});
after(() => project.remove());

const declared = (kind) => new RegExp(`^    ${kind}: (.*);$`, "m").exec(project.read(".a2a-edge/agents.d.ts"))?.[1];

test("agents.d.ts has the names of agents, remotes, MCP servers, secrets and variables", async () => {
  assert.equal((await project.run("build")).code, 0);
  assert.equal(declared("remotes"), '"atlas" | "poet" | "weather"');
  assert.equal(declared("mcp"), '"files"');
  assert.equal(declared("secrets"), '"EXAMPLE_KEY" | "OLD_KEY" | "PLACES_URL" | "POET_KEY" | "WEATHER_KEY"');
  // A name alone is written, too.
  project.write(".dev.vars", "export OWN=x\n");
  project.write("facts.json", JSON.stringify({ ...FACTS, mcp: [] }));
  assert.equal((await project.run("build")).code, 0);
  assert.equal(declared("mcp"), "never");
  assert.match(declared("secrets"), /"OWN"/);
});

const SOURCE = `import type { Env, NameOf } from "a2a-edge";

export const url = (env: Env): string => env.PLACES_URL;
export const own = (env: Env): string => env.OWN;
export const remote: NameOf<"remotes"> = "weather";
export const key: NameOf<"secrets"> = "WEATHER_KEY";
`;

test("test checks the types of the sources, with those of the bindings", async () => {
  project.write("src/more.ts", SOURCE);
  const { code, output } = await project.run("test");
  assert.equal(code, 0, output);
  assert.match(output, /^==> Types \(tsc\)$/m);
  assert.match(project.read("worker-configuration.d.ts"), /PLACES_URL/);
  for (const [from, to, told] of [
    ["env.OWN", "env.OTHER", /^src\/more\.ts\(4,\d+\): error TS2339: .*OTHER/m],
    ['"weather"', '"wether"', /^src\/more\.ts\(5,\d+\): error TS2820: .*"weather"/m],
    ['"WEATHER_KEY"', '"KEY"', /^src\/more\.ts\(6,\d+\): error TS2322: .*KEY/m],
  ]) {
    project.write("src/more.ts", SOURCE.replace(from, to));
    const { code, output } = await project.run("test");
    assert.equal(code, 1, output);
    assert.match(output, told);
    assert.match(output, /The types do not fit; what tsc says is above\./);
  }
  project.write("src/more.ts", SOURCE);
});

test("dev says when the types do not fit, and when they do again; the Worker is served", async () => {
  const { dev, answered } = await startDev(project);
  try {
    const says = (text, from) => until(() => dev.output.slice(from).includes(text), `it says "${text}"; it said:\n${dev.output}`);
    const from = dev.output.length;
    project.write("src/index.ts", `import "./more.ts";\n${project.read("src/index.ts")}`);
    project.write("src/more.ts", SOURCE.replace("env.OWN", "env.OTHER"));
    await says("src/more.ts(4,", from);
    await says("The Worker is served nevertheless; npm test fails until that is mended.", from);
    assert.equal((await answered()).variable, undefined);
    project.write("src/more.ts", SOURCE);
    await says("The types fit again.", from);
  } finally {
    dev.child.kill("SIGTERM");
    await dev.ended;
  }
});
