// `deploy` with an account that is a stand-in, in a project without Rust.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { MARK, marked } from "../../scripts/lib/forms.mjs";
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
  project.remove("whoami.json");
});
after(() => project.remove());

/** The calls of wrangler, but for what is only asked; what is packed without being uploaded is `deploy --dry-run`. */
const wrangler = () => project.calls().filter(([name]) => name === "wrangler").map(([, ...args]) => args.filter((arg) => !arg.startsWith("--outdir=")).join(" "));
const ASKED = /^(?:whoami|queues info|d1 execute|secret list|deployments list|versions list) /;
const done = () => wrangler().filter((call) => !ASKED.test(`${call} `));

test("a deploy asks what the account has, says what it will do, then makes the queues, uploads and migrates", async () => {
  const { code, output } = await project.run("deploy", "--message", "a better one", "--var=A:1", "--var=B:2", "--keep-vars");
  assert.equal(code, 0, output);
  assert.deepEqual(done(), [
    "deploy --dry-run --var=A:1 --var=B:2 --keep-vars",
    "queues create own-agent-webhooks",
    "queues create own-agent-webhooks-dead",
    "queues create own-agent-deletions",
    `deploy --message=${marked("a better one")} --var=A:1 --var=B:2 --keep-vars`,
    "d1 migrations apply DB --remote",
  ]);
  const calls = wrangler();
  const asked = calls.filter((call) => ASKED.test(`${call} `));
  assert.deepEqual([...asked].sort(), [
    "d1 execute DB --remote --json --command=SELECT name FROM d1_migrations",
    "deployments list --json",
    "queues info own-agent-deletions",
    "queues info own-agent-webhooks",
    "queues info own-agent-webhooks-dead",
    "secret list --format=json",
    "versions list --json",
    "whoami --json",
  ]);
  assert.ok(Math.max(...asked.map((call) => calls.indexOf(call))) < calls.indexOf("queues create own-agent-webhooks"), "nothing is made before all is asked");
  const said = [
    "Anybody who can reach the Worker may call public, other (open = true).",
    "closed will refuse every call: say in agents/closed.toml who may call, with [access.schemes.<name>] or with [access] and open = true.",
    "guarded takes callers with key (api_key).",
    "Not served by the deployment: local (development = true).",
    "The console at /console/ is public; it shows callers only what their own credentials show.",
  ];
  const at = output.indexOf(said.join("\n"));
  assert.ok(at >= 0 && at < output.indexOf("==> Making the queue"), output);
  assert.match(output, /\nTo try it: npx a2a-edge deploy --check https:\/\/own-agent\.example\.workers\.dev\n$/);
});

test("an environment reaches the queues, the upload and the migrations", async () => {
  const { code, output } = await project.run("deploy", "--env", "staging");
  assert.equal(code, 0, output);
  assert.deepEqual(done(), [
    "deploy --dry-run --env=staging",
    "queues create staging-webhooks --env=staging",
    "queues create staging-dead --env=staging",
    "queues create staging-deletions --env=staging",
    `deploy --env=staging --message=${MARK}`,
    "d1 migrations apply DB --remote --env=staging",
  ]);
  assert.ok(wrangler().every((call) => call.startsWith("whoami") || call.includes("--env=staging")), wrangler().join("\n"));
  assert.match(output, /^ {4}Worker +\S*staging\S*, environment staging, with a2a-edge/m);
});

test("an environment that wrangler.toml does not have, or that lacks a binding, is refused before anything is built or asked", async () => {
  for (const [toml, environment, reason] of [
    [`${plain}\n${STAGING}`, "stagging", /"stagging"[^]*available[^]*"staging"/],
    [plain, "stagging", /wrangler\.toml has no environment "stagging"/],
    [`${plain}\n${STAGING.replace('binding = "DELETIONS"', 'binding = "OTHERS"')}`, "staging", /wrangler\.toml lacks what a2a-edge needs[^]*\[\[env\.staging\.queues\.producers\]\]\n +binding = "DELETIONS"/],
  ]) {
    project.write("wrangler.toml", toml);
    const { code, output } = await project.run("deploy", "--env", environment);
    assert.equal(code, 1);
    assert.match(output, reason);
    assert.doesNotMatch(output, /^ +at /m, "no stack");
    assert.deepEqual(wrangler(), []);
    assert.doesNotMatch(output, /Building/);
  }
});

test("a dry run says the same, and changes nothing at Cloudflare, with a login and without", async () => {
  const withLogin = await project.run("deploy", "--dry-run");
  assert.equal(withLogin.code, 0, withLogin.output);
  assert.deepEqual(done(), ["deploy --dry-run"]);
  const real = await project.run("deploy");
  const report = (output) => output.slice(output.indexOf("What this deployment does"), output.indexOf("/console/ is public"));
  assert.equal(report(withLogin.output), report(real.output));

  project.write("calls.log", "");
  project.write("whoami.json", '{"loggedIn":false}');
  const { code, output } = await project.run("deploy", "--dry-run");
  assert.equal(code, 0, output);
  assert.deepEqual(wrangler(), ["whoami --json", "deploy --dry-run"]);
  assert.match(output, /^ {4}Account +not known: there is no login, so the account cannot be asked what it has$/m);
  const made = "the Worker own-agent, the database own-agent, the queues own-agent-webhooks, own-agent-webhooks-dead, own-agent-deletions";
  assert.ok(output.includes(`what the account lacks of these: ${made}\n`), output);
  assert.match(output, /those of these that the database lacks: 0001_schema\.sql, /);
});

test("without a login nothing is done, and the message says what to do", async () => {
  project.write("whoami.json", '{"loggedIn":false}');
  const { code, output } = await project.run("deploy");
  assert.equal(code, 1);
  assert.match(output, /You are not logged in to Cloudflare\.\n\n {4}Run: npx a2a-edge wrangler login\n[^]*npx a2a-edge deploy --dry-run says what would be deployed without a login\.\n/);
  assert.deepEqual(wrangler(), ["whoami --json"]);
});

test("a temporary account is for machines without a login: every step that makes something gets the option, and nothing is asked of it before", async () => {
  const refused = await project.run("deploy", "--temporary");
  assert.equal(refused.code, 1);
  assert.match(refused.output, /--temporary is for machines without a login, and this one has one\.\n\n {4}Leave the option out, or run: npx a2a-edge wrangler logout\n/);

  project.write("whoami.json", '{"loggedIn":false}');
  project.write("calls.log", "");
  const { code, output } = await project.run("deploy", "--temporary");
  assert.equal(code, 0, output);
  const [first, packed, ...others] = wrangler();
  assert.deepEqual([first, packed], ["whoami --json", "deploy --dry-run"]);
  assert.ok(others.length === 8 && others.every((call) => call.includes("--temporary")), others.join("\n"));
  assert.match(output, /^ {4}Account +a temporary one, [^\n]*agrees to https:\/\/www\.cloudflare\.com\/terms\//m);
  assert.ok(output.indexOf("a temporary one") < output.indexOf("==> Making the queue"));
});

test("options that do not go together are refused, with the help", async () => {
  for (const [args, reason] of [
    [["--check", "http://a", "--diff", "http://a"], /--check and --diff exclude each other/],
    [["--agent", "demo"], /--agent is for --check\./],
    [["--json"], /--json is for --check and --diff\./],
    [["--diff", "http://a", "--text", "x"], /--text is for --check\./],
    [["--check", "http://a", "--dry-run"], /--check deploys nothing, so --dry-run has no meaning with it/],
    [["--diff", "http://a", "--strict"], /--diff deploys nothing, so --strict/],
    [["--check"], /--check needs a value/],
  ]) {
    const { code, output } = await project.run("deploy", ...args);
    assert.equal(code, 1);
    assert.match(output, reason);
    assert.match(output, /\n\nUsage: npx a2a-edge deploy /);
  }
  assert.deepEqual(wrangler(), []);
});
