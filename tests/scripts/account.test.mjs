// The wrangler that is installed deploys into an account, with a stand-in for the API of Cloudflare alone.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { MARK, marked } from "../../scripts/lib/forms.mjs";
import { startApi } from "./cloudflare-api.mjs";
import { makeOwnProject, root, version } from "./project.mjs";

const FIRST = "11111111-0000-4000-8000-000000000000";
const QUEUES = ["own-agent-webhooks", "own-agent-webhooks-dead", "own-agent-deletions"];
const MIGRATIONS = readdirSync(join(root, "migrations")).sort();

let project, api;
before(async () => {
  api = await startApi();
  project = makeOwnProject();
  Object.assign(project.env, api.env);
});
after(() => {
  api.close();
  project.remove();
});

const line = (output, name) => new RegExp(`^ {4}${name} +(.*)$`, "m").exec(output)?.[1];
const run = async (...args) => {
  api.changes.length = 0;
  const { code, output } = await project.run(...args);
  assert.equal(code, 0, output);
  assert.ok(!output.includes(api.env.CLOUDFLARE_API_TOKEN));
  return output;
};

test("a first deploy says what an empty account gets, and makes it", async () => {
  const output = await run("deploy");
  assert.match(line(output, "Account"), /^Ada's Account \(a{32}\), as ada@example\.com$/);
  assert.equal(line(output, "Worker"), `own-agent, with a2a-edge ${version}; it is new`);
  assert.equal(line(output, "Makes"), `the Worker own-agent, the database own-agent, the queues ${QUEUES.join(", ")}`);
  assert.equal(line(output, "Migrations"), `${MIGRATIONS.join(", ")}, after the upload`);
  assert.ok(output.indexOf("What this deployment does") < output.indexOf("==> Making the queue"));
  const { queues, migrations, metadata } = api.state;
  assert.deepEqual([queues, migrations], [QUEUES, MIGRATIONS]);
  assert.equal(metadata.annotations["workers/message"], MARK);
  assert.match(output, /\nTo try it: npx a2a-edge deploy --check https:\/\/own-agent\.ada\.workers\.dev\n$/);
});

test("a second one finds all of it, and replaces the version", async () => {
  const output = await run("deploy", "--message", "the second", "--tag", "v2");
  assert.equal(line(output, "Worker"), `own-agent, with a2a-edge ${version}; it replaces the version ${FIRST}, with a2a-edge ${version}`);
  assert.equal(line(output, "Makes"), "nothing: the account has the Worker, the database and the queues");
  assert.equal(line(output, "Migrations"), "none: the database has all of them");
  assert.ok(!api.changes.some((change) => ["POST /queues", "POST /d1/database"].includes(change)), api.changes.join("\n"));
  assert.deepEqual(api.state.metadata.annotations, { "workers/message": marked("the second"), "workers/tag": "v2" });
});

test("a dry run asks which migrations, queues and secrets are there, and changes nothing", async () => {
  project.write("facts.json", JSON.stringify({ agents: [{ slug: "a", needs: [{ name: "ONE", by: ["executor"] }, { name: "TWO", by: ["executor"] }] }] }));
  project.write("agents/one.toml", "with needs");
  api.state.secrets = ["ONE"];
  api.state.migrations.pop();
  api.state.queues.pop();
  const output = await run("deploy", "--dry-run");
  assert.match(output, /^Not set, so that what needs it fails:\n\n {4}TWO {3}executor of the agent a\n\n/m);
  assert.equal(line(output, "Makes"), "the queue own-agent-deletions");
  assert.equal(line(output, "Migrations"), `${MIGRATIONS.at(-1)}, after the upload`);
  assert.deepEqual(api.changes, []);
  api.state.migrations = "no table";
  assert.equal(line(await run("deploy", "--dry-run"), "Migrations"), `${MIGRATIONS.join(", ")}, after the upload`);
});

test("keys sets, lists, replaces and deletes secrets, whose values are in no output", async () => {
  const schemes = { key: { kind: "api_key", callers: [{ id: "billing", secrets: ["BILLING_KEY", "BILLING_KEY_NEXT"] }] } };
  project.write("facts.json", JSON.stringify({ agents: [{ slug: "a", access: { schemes } }] }));
  api.state.secrets = [];
  const outputs = [await run("keys", "make", "BILLING_KEY", "--save", "first")];
  assert.deepEqual([api.state.values.BILLING_KEY, api.changes], [readFileSync(project.at("first"), "utf8").trim(), ["PUT /workers/scripts/own-agent/secrets"]]);
  outputs.push(await run("keys", "rotate", "BILLING_KEY", "--save", "second"));
  assert.deepEqual(api.state.secrets, ["BILLING_KEY", "BILLING_KEY_NEXT"]);
  outputs.push(await run("keys", "--json"));
  assert.match(outputs.at(-1), /^\{"name":"BILLING_KEY",.*"set":true,"second":"BILLING_KEY_NEXT","both":true/m);
  outputs.push(await run("keys", "rotate", "BILLING_KEY", "--finish", "--yes"));
  assert.deepEqual([api.state.secrets, api.changes], [["BILLING_KEY_NEXT"], ["DELETE /workers/scripts/own-agent/secrets/BILLING_KEY"]]);
  for (const value of Object.values(api.state.values)) assert.ok(value.length === 48 && !outputs.join("").includes(value));
});
