// The JSON Schemas for editors: they accept the files of this repository, and refuse what its readers refuse: unknown keys, wrong types and wrong
// choices.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { before, test } from "node:test";
import Ajv from "ajv";
import { inPackage } from "../../scripts/lib/paths.mjs";

const agentFolders = ["agents", join("tests", "agents"), join("tests", "probes", "agents"), join("create", "templates", "basic", "agents"), join("create", "templates", "rust", "agents")];
const filesOf = {
  "agent.schema.json": agentFolders.flatMap(tomlFiles),
  "tool.schema.json": ["tools", join("tests", "tools")].flatMap(tomlFiles),
  "remotes.schema.json": ["remotes.toml", join("tests", "remotes.toml"), join("tests", "probes", "remotes.toml")].filter((path) => existsSync(inPackage(path))),
};

/** The schemas as functions of ajv, and the values of the files. */
let validate, values;
before(() => {
  const args = ["run", "--quiet", "--package", "a2a-edge-agents", "--features", "checker", "--example", "schemas", "--", ...Object.values(filesOf).flat()];
  const { schemas, files } = JSON.parse(execFileSync("cargo", args, { cwd: inPackage(), maxBuffer: 64 * 1024 * 1024 }));
  const ajv = new Ajv({ allErrors: true, keywords: ["x-taplo"], strictRequired: false, strictTypes: false, allowUnionTypes: true });
  validate = Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, ajv.compile(schema)]));
  values = files;
});

function tomlFiles(folder) {
  if (!existsSync(inPackage(folder))) return [];
  return readdirSync(inPackage(folder)).filter((name) => name.endsWith(".toml")).map((name) => join(folder, name));
}

/** The mistakes in a file, each as its place and its text. */
function mistakes(schema, value) {
  return validate[schema](value) ? [] : validate[schema].errors.map(({ instancePath, message }) => `${instancePath} ${message}`);
}

test("the files of this repository fit the schemas", () => {
  for (const [schema, files] of Object.entries(filesOf)) {
    assert.ok(files.length > 0, schema);
    for (const file of files) assert.deepEqual(mistakes(schema, values[file]), [], file);
  }
});

const agent = (members) => ({ name: "A", description: "B", version: "1", executor: { kind: "seats" }, ...members });
const executor = (kind, table, others) => agent({ executor: { kind, [kind]: table, ...others } });
const script = (rule) => executor("script", { rules: [{ then: [{ do: "complete" }], ...rule }] });
const step = (members) => script({ then: [members] });
const model = (members) => executor("model", { model: "m", ...members });
const scheme = (members) => agent({ access: { schemes: { s: members } } });
const jwt = (members) => scheme({ kind: "jwt", audience: ["a"], ...members });
const tool = (members) => ({ description: "A.", url: "https://a.example", ...members });
const remote = (members) => ({ remote: { a: { url: "https://a.example", ...members } } });
const mcp = (members) => ({ mcp: { a: { url: "https://a.example", ...members } } });

/** Files by the names of their schemas, each with the place at which a mistake is shown; undefined if there is none. */
const cases = {
  "agent.schema.json": [
    [agent({}), undefined],
    [agent({ defalt: true }), ""],
    [agent({ name: 5 }), "/name"],
    [agent({ version: undefined }), ""],
    [agent({ accepts: "some" }), "/accepts"],
    [agent({ input_modes: "text/plain" }), "/input_modes"],
    [agent({ skills_from: ["tools", "skills/", "remote"] }), undefined],
    [agent({ skills_from: ["agent:a"] }), "/skills_from/0"],
    [agent({ skills_from: ["/skills/"] }), "/skills_from/0"],
    [agent({ skills: [{ id: "a", tag: [] }] }), "/skills/0"],
    [agent({ skills: [{ name: "a" }] }), "/skills/0"],
    [agent({ provider: { organization: "A" } }), "/provider"],
    [agent({ capabilities: { streamin: true } }), "/capabilities"],
    [agent({ capabilities: { extensions: [{ uri: "urn:a", requird: true }] } }), "/capabilities/extensions/0"],
    [agent({ dialects: { v0_3: { file_bytes: "triple" } } }), "/dialects/v0_3/file_bytes"],
    [agent({ dialects: { v1: {} } }), "/dialects"],
    [agent({ mcp: { tools: "all" } }), "/mcp/tools"],
    [agent({ access: { opn: true } }), "/access"],
    [agent({ access: { rate_limits: [{ binding: "A", by: "caller", period_s: 30 }] } }), "/access/rate_limits/0/period_s"],
    [scheme({ kind: "apikey", name: "x", callers: [] }), "/access/schemes/s/kind"],
    [scheme({ kind: "api_key", name: "x", callers: [] }), undefined],
    [scheme({ kind: "api_key", in: "body", name: "x", callers: [] }), "/access/schemes/s/in"],
    [scheme({ kind: "bearer", name: "x", callers: [] }), "/access/schemes/s"],
    [scheme({ kind: "bearer", callers: [{ id: "a", secret: "A" }] }), "/access/schemes/s/callers/0"],
    [scheme({ kind: "cloudflare_access", team: "https://t.cloudflareaccess.com" }), "/access/schemes/s"],
    [jwt({ leeway_s: 301 }), "/access/schemes/s/leeway_s"],
    [jwt({ algorithms: ["HS512"] }), "/access/schemes/s/algorithms/0"],
    [jwt({ declared_as: "openid" }), "/access/schemes/s/declared_as"],
    [jwt({ declared_as: "oauth2", flows: { implicit: {} } }), "/access/schemes/s/flows"],
    [jwt({ declared_as: "oauth2", flows: { deviceCode: { token: "https://t.example" } } }), "/access/schemes/s/flows/deviceCode"],
    [agent({ executor: {} }), "/executor"],
    [agent({ executor: { kind: "Oracle" } }), "/executor/kind"],
    [agent({ executor: { kind: "rust" } }), "/executor/kind"],
    [agent({ executor: { kind: "script" } }), "/executor"],
    [executor("seats", { any: [{ key: 1 }] }), undefined],
    [executor("seats", {}, { script: { rules: [] } }), "/executor/script"],
    [executor("seats", {}, { run: { recovery: "again" } }), "/executor/run/recovery"],
    [executor("seats", {}, { run: { timeout: 5 } }), "/executor/run"],
    [executor("seats", {}, { kinds: "x" }), "/executor/kinds"],
    [executor("tools", { names: [] }, { model: { model: "m" } }), "/executor"],
    [executor("tools", { name: ["echo"] }), "/executor/tools"],
    [executor("tools", { names: "echo" }), "/executor/tools/names"],
    [executor("tools", { ask_missing: "true" }), "/executor/tools/ask_missing"],
    [executor("remote", {}), "/executor/remote"],
    [executor("remote", { remote: "a", silence_ms: 999 }), "/executor/remote/silence_ms"],
    [executor("http", { url: "https://a.example", timeout_ms: 99 }), "/executor/http/timeout_ms"],
    [executor("http", { url: "https://a.example", timeout_ms: "1000" }), "/executor/http/timeout_ms"],
    [executor("http", { url: "https://a.example", headers: { A: 5 } }), "/executor/http/headers/A"],
    [executor("http", { url: "https://a.example", header: {} }), "/executor/http"],
    [model({ provider: "gemini" }), "/executor/model/provider"],
    [model({ temprature: 1 }), "/executor/model"],
    [model({ temperature: -1 }), "/executor/model/temperature"],
    [model({ price: { input: 1 } }), "/executor/model/price"],
    [model({ limits: { rounds: 0 } }), "/executor/model/limits/rounds"],
    [model({ limits: { round: 1 } }), "/executor/model/limits"],
    [model({ output_schema: "schema.json" }), "/executor/model/output_schema"],
    [model({ model: undefined }), "/executor/model"],
    [script({ when: { text: "a", pattern: "b" } }), "/executor/script/rules/0/when"],
    [script({ when: { txt: "a" } }), "/executor/script/rules/0/when"],
    [script({ whenever: {} }), "/executor/script/rules/0"],
    [script({ follow_up: [{ then: [{ do: "fail" }] }] }), "/executor/script/rules/0/follow_up/0/then/0"],
    [step({ do: "dance" }), "/executor/script/rules/0/then/0/do"],
    [step({ do: "complete", txt: "x" }), "/executor/script/rules/0/then/0"],
    [step({ do: "complete", ms: 5 }), "/executor/script/rules/0/then/0"],
    [step({ do: "wait", ms: "{1}000" }), undefined],
    [step({ do: "wait", ms: "1s" }), "/executor/script/rules/0/then/0/ms"],
    [step({ do: "wait", ms: 600_001 }), "/executor/script/rules/0/then/0/ms"],
    [step({ do: "park", ms: 600_001 }), undefined],
    [step({ do: "park", days: 367 }), "/executor/script/rules/0/then/0/days"],
    [step({ do: "park", days: 1, hours: 2 }), "/executor/script/rules/0/then/0"],
    [step({ do: "callback", ms: 1, count: 0 }), "/executor/script/rules/0/then/0/count"],
    [step({ do: "artifact" }), "/executor/script/rules/0/then/0"],
    [step({ do: "artifact", data: [1, "a"] }), undefined],
    [step({ do: "artifact", chunks: "a" }), "/executor/script/rules/0/then/0/chunks"],
    [executor("script", { rules: [], faults: [{ state: 5 }] }), "/executor/script/faults/0"],
    [executor("script", { rules: [], faults: [{ status: 99 }] }), "/executor/script/faults/0/status"],
    [agent({ tools: [tool({ name: "a", methd: "GET" })] }), "/tools/0"],
  ],
  "tool.schema.json": [
    [tool({ arguments: { a: "A.", b: { type: "integer" } } }), undefined],
    [tool({ arguments: { a: 5 } }), "/arguments/a"],
    [tool({ method: "get" }), "/method"],
    [tool({ retry: 11 }), "/retry"],
    [tool({ timeout_ms: 0 }), "/timeout_ms"],
    [tool({ max_bytes: "1" }), "/max_bytes"],
    [tool({ headers: ["a"] }), "/headers"],
    [tool({ ulr: "https://a.example" }), ""],
    [tool({ description: undefined }), ""],
  ],
  "remotes.schema.json": [
    [{ remotes: {} }, ""],
    [remote({}), undefined],
    [remote({ timeout_ms: "${SLOW_MS}", allow_other_hosts: "${OTHERS}", version: "${VERSION}" }), undefined],
    [remote({ timeout_ms: 999 }), "/remote/a/timeout_ms"],
    [remote({ timeout_ms: "1s" }), "/remote/a/timeout_ms"],
    [remote({ timout_ms: 1000 }), "/remote/a"],
    [remote({ version: "2.0" }), "/remote/a/version"],
    [remote({ binding: "grpc" }), "/remote/a/binding"],
    [remote({ verify: true }), "/remote/a/verify"],
    [remote({ api_key: { name: "X" } }), "/remote/a/api_key"],
    [remote({ api_key: { in: "body", name: "X", value: "x" } }), "/remote/a/api_key/in"],
    [remote({ oauth2: { token_url: "https://a.example", client_id: "a" } }), "/remote/a/oauth2"],
    [mcp({ trust_hints: "yes" }), "/mcp/a/trust_hints"],
    [mcp({ tools: "read_*" }), "/mcp/a/tools"],
    [mcp({ url: undefined }), "/mcp/a"],
    [mcp({ version: "1.0" }), "/mcp/a"],
  ],
};

test("unknown keys, wrong types and wrong choices are refused where they stand", () => {
  for (const [schema, files] of Object.entries(cases)) {
    for (const [file, place] of files) {
      // A key without a value is no key.
      const value = JSON.parse(JSON.stringify(file));
      const found = mistakes(schema, value);
      const isExpected = place === undefined ? found.length === 0 : found.some((text) => text.startsWith(`${place} `));
      assert.ok(isExpected, `${JSON.stringify(value)} at ${place}: ${found.join("; ")}`);
    }
  }
});
