// `deploy` with an account that is a stand-in, in a project without Rust.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { makeOwnProject } from "./project.mjs";

const STAGING = `
[env.staging]
[[env.staging.durable_objects.bindings]]
name = "TASKS"
class_name = "TaskObject"
[[env.staging.d1_databases]]
binding = "DB"
database_name = "staging"
migrations_dir = "node_modules/a2a-edge/migrations"
[[env.staging.queues.producers]]
binding = "WEBHOOKS"
queue = "staging-webhooks"
[[env.staging.queues.producers]]
binding = "DEAD_LETTERS"
queue = "staging-dead"
[[env.staging.queues.producers]]
binding = "DELETIONS"
queue = "staging-deletions"
[[env.staging.queues.consumers]]
queue = "staging-dead"
[[env.staging.queues.consumers]]
queue = "staging-webhooks"
dead_letter_queue = "staging-dead"
[[env.staging.queues.consumers]]
queue = "staging-deletions"
`;

let project, plain;
before(() => {
  project = makeOwnProject({ wrangler: "stand-in" });
  plain = project.read("wrangler.toml");
  const schemes = { key: { kind: "api_key" } };
  project.write("facts.json", JSON.stringify({
    agents: [
      { slug: "public", access: { open: true } },
      { slug: "other", access: { open: true } },
      { slug: "closed" },
      { slug: "guarded", access: { schemes } },
      { slug: "local", development: true },
    ],
  }));
});
beforeEach(() => {
  project.write("wrangler.toml", `${plain}\n${STAGING}`);
  project.write("calls.log", "");
});
after(() => project.remove());

const wrangler = () => project.calls().filter(([name]) => name === "wrangler").map(([, ...args]) => args.join(" "));

test("a deploy makes the queues, uploads, migrates, and says who may call", async () => {
  const { code, output } = await project.run("deploy", "--message", "a better one", "--var=A:1", "--var=B:2", "--keep-vars");
  assert.equal(code, 0, output);
  assert.deepEqual(wrangler(), [
    "whoami --json",
    "queues info own-agent-webhooks",
    "queues create own-agent-webhooks",
    "queues info own-agent-webhooks-dead",
    "queues create own-agent-webhooks-dead",
    "queues info own-agent-deletions",
    "queues create own-agent-deletions",
    "deploy --message=a better one --var=A:1 --var=B:2 --keep-vars",
    "d1 migrations apply DB --remote",
  ]);
  const said = [
    "Anybody who can reach the Worker may call public, other (open = true).",
    "closed will refuse every call: say in agents/closed.toml who may call, with [access.schemes.<name>] or with [access] and open = true.",
    "Not served by the deployment: local (development = true).",
    "The console at /console/ is public; it shows callers only what their own credentials show.",
  ];
  const at = output.indexOf(said.join("\n"));
  assert.ok(at >= 0 && at < output.indexOf("==> Deploying"), output);
});

test("an environment reaches the queues, the upload and the migrations", async () => {
  const { code, output } = await project.run("deploy", "--env", "staging");
  assert.equal(code, 0, output);
  assert.deepEqual(wrangler(), [
    "whoami --json",
    "queues info staging-webhooks --env=staging",
    "queues create staging-webhooks --env=staging",
    "queues info staging-dead --env=staging",
    "queues create staging-dead --env=staging",
    "queues info staging-deletions --env=staging",
    "queues create staging-deletions --env=staging",
    "deploy --env=staging",
    "d1 migrations apply DB --remote --env=staging",
  ]);
});

test("an environment that wrangler.toml does not have is refused before anything is built or deployed", async () => {
  for (const [toml, reason] of [
    [`${plain}\n${STAGING}`, /"stagging"[^]*available[^]*"staging"/],
    [plain, /wrangler\.toml has no environment "stagging"/],
  ]) {
    project.write("wrangler.toml", toml);
    const { code, output } = await project.run("deploy", "--env", "stagging");
    assert.equal(code, 1);
    assert.match(output, reason);
    assert.doesNotMatch(output, /^ +at /m, "no stack");
    assert.deepEqual(wrangler(), []);
    assert.doesNotMatch(output, /Building/);
  }
});

test("a dry run packs the upload and changes nothing at Cloudflare", async () => {
  const { code, output } = await project.run("deploy", "--dry-run");
  assert.equal(code, 0, output);
  assert.deepEqual(wrangler(), ["deploy --dry-run"]);
  assert.doesNotMatch(output, /access control/);
  const made = "the Worker own-agent, the database own-agent, the queue own-agent-webhooks, the queue own-agent-webhooks-dead, the queue own-agent-deletions";
  assert.ok(output.includes(`A deployment makes what the account lacks of these: ${made}.`), output);
});
