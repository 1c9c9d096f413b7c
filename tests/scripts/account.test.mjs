// The wrangler that is installed deploys into an account and goes back, with a stand-in for the API of Cloudflare alone.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { MARK, marked } from "../../scripts/lib/forms.mjs";
import { startApi } from "./cloudflare-api.mjs";
import { makeOwnProject, version } from "./project.mjs";

const [FIRST, SECOND] = ["11111111-0000-4000-8000-000000000000", "22222222-0000-4000-8000-000000000000"];
const QUEUES = ["own-agent-webhooks", "own-agent-webhooks-dead", "own-agent-deletions"];
const MIGRATIONS = ["0001_schema.sql", "0002_fewer_rows.sql", "0003_deleted_tasks.sql", "0004_quotas.sql"];

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

test("a first deploy says what an empty account gets, changes nothing before, and makes it", async () => {
  const dry = await run("deploy", "--dry-run");
  assert.deepEqual(api.changes, []);
  assert.match(line(dry, "Account"), /^Ada's Account \(a{32}\), as ada@example\.com$/);
  assert.equal(line(dry, "Worker"), `own-agent, with a2a-edge ${version}; it is new`);
  assert.equal(line(dry, "Makes"), `the Worker own-agent, the database own-agent, the queues ${QUEUES.join(", ")}`);
  assert.equal(line(dry, "Migrations"), `${MIGRATIONS.join(", ")}, after the upload`);

  const output = await run("deploy");
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

test("a database that lacks a migration gets it alone", async () => {
  api.state.migrations.pop();
  assert.equal(line(await run("deploy", "--dry-run"), "Migrations"), "0004_quotas.sql, after the upload");
  api.state.migrations.length = 0;
  assert.equal(line(await run("deploy", "--dry-run"), "Migrations"), `${MIGRATIONS.join(", ")}, after the upload`);
  api.state.migrations = undefined;
  const gone = await run("deploy", "--dry-run");
  assert.equal(line(gone, "Makes"), "the database own-agent");
  api.state.migrations = [...MIGRATIONS];
});

test("secrets of the Worker are set", async () => {
  project.write("facts.json", JSON.stringify({ agents: [{ slug: "a", needs: [{ name: "ONE", by: ["executor"] }, { name: "TWO", by: ["executor"] }] }] }));
  project.write("agents/one.toml", "with needs");
  api.state.secrets = ["ONE"];
  const output = await run("deploy", "--dry-run");
  assert.match(output, /^Not set, so that what needs it fails:\n\n {4}TWO {3}executor of the agent a\n\n/m);
});

test("a rollback deploys the version of before, and the next one does not go there again", async () => {
  assert.match(await run("rollback", "--dry-run"), new RegExp(`^own-agent runs ${SECOND} \\(of [-\\d: ]+, a2a-edge [\\d.]+, "the second"\\)\\.\nIt goes back to ${FIRST} `, "m"));
  assert.deepEqual(api.changes, []);
  await run("rollback", "--yes");
  assert.deepEqual(api.changes, ["POST /workers/scripts/own-agent/deployments"]);
  const { versions, annotations } = api.state.deployments.at(-1);
  assert.deepEqual([versions, annotations], [[{ version_id: FIRST, percentage: 100 }], { "workers/message": `back from ${SECOND}` }]);
  assert.match(await run("rollback", "--dry-run"), new RegExp(`^It goes back to ${SECOND} `, "m"));
});

test("where secrets have changed since, wrangler names them", async () => {
  api.state.changedSecrets = ["ONE"];
  const output = await run("rollback", "--yes");
  assert.match(output, /The following secrets have changed since version 22222222[^]*ONE/);
  assert.equal(api.state.deployments.at(-1).versions[0].version_id, SECOND);
});
