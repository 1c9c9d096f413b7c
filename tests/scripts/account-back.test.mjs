// The wrangler that is installed goes back to an older version, and deploys into a temporary account, with a stand-in for the API of Cloudflare alone.
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { MARK, marked } from "../../scripts/lib/forms.mjs";
import { startApi } from "./cloudflare-api.mjs";
import { makeOwnProject, root } from "./project.mjs";

const [FIRST, SECOND] = ["11111111-0000-4000-8000-000000000000", "22222222-0000-4000-8000-000000000000"];
const version = (id, number, message) => ({ id, number, metadata: { created_on: `2026-11-0${number}T00:00:00Z` }, annotations: { "workers/message": message } });
const deployment = (id, day) => ({ id: `d${day}`, created_on: `2026-11-0${day}T00:00:00Z`, versions: [{ version_id: id, percentage: 100 }] });

test("a rollback deploys the version of before, the next one the other; where secrets have changed, wrangler names them", async (t) => {
  const api = await startApi({ versions: [version(FIRST, 1, MARK), version(SECOND, 2, marked("the second"))], deployments: [deployment(FIRST, 1), deployment(SECOND, 2)] });
  const project = makeOwnProject();
  t.after(() => (api.close(), project.remove()));
  Object.assign(project.env, api.env);
  const dry = await project.run("rollback", "--dry-run");
  assert.match(dry.output, new RegExp(`^own-agent runs ${SECOND} \\(of [-\\d: ]+, a2a-edge [\\d.]+, "the second"\\)\\.\nIt goes back to ${FIRST} `, "m"));
  assert.deepEqual([dry.code, api.changes], [0, []]);

  const back = await project.run("rollback", "--yes");
  assert.equal(back.code, 0, back.output);
  assert.deepEqual(api.changes, ["POST /workers/scripts/own-agent/deployments"]);
  const { versions, annotations } = api.state.deployments.at(-1);
  assert.deepEqual([versions, annotations], [[{ version_id: FIRST, percentage: 100 }], { "workers/message": `back from ${SECOND}` }]);

  api.state.changedSecrets = ["ONE"];
  const again = await project.run("rollback", "--yes");
  assert.equal(again.code, 0, again.output);
  assert.match(again.output, /The following secrets have changed since version 22222222[^]*ONE/);
  assert.equal(api.state.deployments.at(-1).versions[0].version_id, SECOND);
});

test("without a login a deploy goes into a temporary account, which is made after the report", async (t) => {
  const [api, project] = [await startApi(), makeOwnProject()];
  t.after(() => (api.close(), project.remove()));
  project.env.CLOUDFLARE_API_BASE_URL = api.env.CLOUDFLARE_API_BASE_URL;
  const dry = await project.run("deploy", "--temporary", "--dry-run");
  assert.deepEqual([dry.code, api.changes], [0, []], dry.output);
  const { code, output } = await project.run("deploy", "--temporary");
  assert.equal(code, 0, output);
  assert.ok(output.indexOf("a temporary one, which Cloudflare makes now") < output.indexOf("==> Making the queue"), output);
  assert.deepEqual(api.changes.filter((change) => /^POST \/(?:provisioning|queues$|d1\/database$)|^PUT \/workers\/scripts\/own-agent$/.test(change)), [
    "POST /provisioning/previews/challenge", "POST /provisioning/previews", "POST /queues", "POST /queues", "POST /queues", "POST /d1/database", "PUT /workers/scripts/own-agent",
  ]);
  assert.equal(api.state.migrations.length, readdirSync(join(root, "migrations")).length);
  assert.match(output, /https:\/\/claim\.example/);
});
