// What `deploy` says before it makes anything, with accounts that have something: the account is a stand-in.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { after, before, beforeEach, test } from "node:test";
import { MARK } from "../../scripts/lib/forms.mjs";
import { makeOwnProject, root, version } from "./project.mjs";

const NOW = "33333333-3333-4333-8333-333333333333";
const DEPLOYED = [
  { created_on: "2026-11-02T00:00:00Z", versions: [{ version_id: NOW, percentage: 100 }] },
  { created_on: "2026-11-01T00:00:00Z", versions: [{ version_id: "22222222-2222-4222-8222-222222222222", percentage: 100 }] },
];
const VERSIONS = [{ id: NOW, number: 2, metadata: { created_on: "2026-11-02T00:00:00Z" }, annotations: { "workers/message": `${MARK}: the second` } }];
const MIGRATIONS = readdirSync(join(root, "migrations")).sort();
const ACCOUNT = { loggedIn: true, email: "ada@example.com", accounts: [{ name: "Ada's Account", id: "a1" }] };

let project, plain;
before(() => {
  project = makeOwnProject({ wrangler: "stand-in" });
  plain = project.read("wrangler.toml");
});
beforeEach(() => {
  has({ "whoami.json": ACCOUNT });
  project.write("wrangler.toml", plain);
  project.write("facts.json", JSON.stringify({ agents: [{ slug: "public", access: { open: true } }] }));
  project.write("calls.log", "");
});
after(() => project.remove());

/** Sets what the account has, by the files of the stand-in; it has nothing else. */
function has(files) {
  for (const name of ["whoami.json", "queues.json", "d1.json", "deployments.json", "versions.json", "secrets.json", "size.txt"]) {
    if (name in files) project.write(name, JSON.stringify(files[name]));
    else project.remove(name);
  }
}

const WHOLE = {
  "whoami.json": ACCOUNT,
  "queues.json": ["own-agent-webhooks", "own-agent-webhooks-dead", "own-agent-deletions"],
  "d1.json": [{ results: MIGRATIONS.map((name) => ({ name })), success: true }],
  "deployments.json": DEPLOYED,
  "versions.json": VERSIONS,
  "secrets.json": [],
};

/** The line of the report with this name. */
const line = (output, name) => new RegExp(`^ {4}${name} +(.*)$`, "m").exec(output)?.[1];
const report = async (...args) => {
  const { code, output } = await project.run("deploy", "--dry-run", ...args);
  assert.equal(code, 0, output);
  return output;
};

test("an account that has nothing gets all of it, and is named", async () => {
  const output = await report();
  assert.equal(line(output, "Account"), "Ada's Account (a1), as ada@example.com");
  assert.equal(line(output, "Worker"), `own-agent, with a2a-edge ${version}; it is new`);
  assert.equal(line(output, "Makes"), "the Worker own-agent, the database own-agent, the queues own-agent-webhooks, own-agent-webhooks-dead, own-agent-deletions");
  assert.equal(line(output, "Migrations"), `${MIGRATIONS.join(", ")}, after the upload`);
  assert.equal(line(output, "Address"), "https://own-agent.<your subdomain>.workers.dev");
});

test("an account that has all of it gets nothing but the version, whose predecessor is named", async () => {
  has(WHOLE);
  const output = await report();
  assert.equal(line(output, "Worker"), `own-agent, with a2a-edge ${version}; it replaces the version ${NOW}, with a2a-edge ${version}`);
  assert.equal(line(output, "Makes"), "nothing: the account has the Worker, the database and the queues");
  assert.equal(line(output, "Migrations"), "none: the database has all of them");
  await project.run("deploy");
  assert.ok(!project.calls().some(([, ...args]) => args[0] === "queues" && args[1] === "create"));
});

test("what is lacking is told alone: a queue, and migrations", async () => {
  has({ ...WHOLE, "queues.json": ["own-agent-webhooks", "own-agent-deletions"], "d1.json": [{ results: MIGRATIONS.slice(0, 2).map((name) => ({ name })) }] });
  const output = await report();
  assert.equal(line(output, "Makes"), "the queue own-agent-webhooks-dead");
  assert.equal(line(output, "Migrations"), `${MIGRATIONS.slice(2).join(", ")}, after the upload`);
});

test("after an unknown answer of wrangler the report says what may be missing, and the deploy goes on", async () => {
  has({ ...WHOLE, "deployments.json": "nonsense", "d1.json": { error: { text: "A request to the Cloudflare API failed." } } });
  const { code, output } = await project.run("deploy");
  assert.equal(code, 0, output);
  assert.equal(line(output, "Worker"), `own-agent, with a2a-edge ${version}`);
  assert.equal(line(output, "Makes"), "what the account lacks of these: the Worker own-agent, the database own-agent");
  assert.match(line(output, "Migrations"), /^those of these that the database lacks: 0001_schema/);
});

test("of several accounts the settings choose, and without that all are named", async () => {
  has({ "whoami.json": { ...ACCOUNT, accounts: [{ name: "One", id: "a1" }, { name: "Two", id: "a2" }] } });
  assert.equal(line(await report(), "Account"), "one of One (a1), Two (a2), as ada@example.com: account_id in wrangler.toml or CLOUDFLARE_ACCOUNT_ID says which");
  project.write("wrangler.toml", `account_id = "a2"\n${plain}`);
  assert.equal(line(await report(), "Account"), "Two (a2), as ada@example.com");
});

test("domains and routes are the addresses", async () => {
  project.write("wrangler.toml", `routes = [{ pattern = "agents.example.com", custom_domain = true }]\n${plain}`);
  assert.equal(line(await report("--domain", "other.example.com", "--route", "example.org/*"), "Address"), "other.example.com, example.org/*, agents.example.com");
});

test("an upload beyond Workers Free says so; one beyond Workers Paid ends the deploy before anything is made", async () => {
  has({ ...WHOLE, "size.txt": 3_500_000 });
  assert.match(line(await report(), "Upload"), /^350\d\.\d KB gzip; at most 3 MB with Workers Free, 10 MB with Workers Paid, which it needs$/);
  has({ "whoami.json": ACCOUNT, "size.txt": 10_500_000 });
  project.write("calls.log", "");
  const { code, output } = await project.run("deploy");
  assert.equal(code, 1);
  assert.match(output, /The upload is larger than any plan allows[^]*npx a2a-edge size says what is in it/);
  assert.ok(!project.calls().some(([, ...args]) => args.includes("create") || (args[0] === "deploy" && !args.includes("--dry-run"))));
});

test("who may call says which schemes a caller needs, and which together", async () => {
  const schemes = { key: { kind: "api_key" }, tls: { kind: "mutual_tls" }, jwt: { kind: "jwt" } };
  project.write("facts.json", JSON.stringify({ agents: [{ slug: "any", access: { schemes } }, { slug: "both", access: { schemes, requires: [{ tls: [], jwt: ["x"] }, { key: [] }] } }] }));
  project.write("agents/one.toml", "with schemes");
  const output = await report();
  assert.match(output, /^any takes callers with key \(api_key\), or tls \(mutual_tls\), or jwt \(jwt\)\.\nboth takes callers with tls \(mutual_tls\) and jwt \(jwt\), or key \(api_key\)\.$/m);
});

/** A server in the place of a deployment, which runs `agents`. */
async function deployment(agents, work) {
  const server = createServer(({ url }, response) => {
    const found = agents.find(({ slug }) => url === `/${slug}/.well-known/agent-card.json`);
    const value = url === "/console/api/agents" ? { version: "0.5.0", development: false, agents } : found?.card;
    response.writeHead(value === undefined ? 404 : 200, { "content-type": "application/json" }).end(JSON.stringify(value ?? {}));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    return await work(`http://127.0.0.1:${server.address().port}`);
  } finally {
    server.close();
  }
}

test("what runs is compared where the settings name its address, and a server that does not answer does not stop the deploy", async () => {
  has(WHOLE);
  const agents = [{ slug: "public", isOpen: false, isDefault: false, access: { securitySchemes: { key: {} } }, card: {} }];
  await deployment(agents, async (url) => {
    const output = await report("--var", `PUBLIC_URL:${url}`);
    assert.ok(output.includes(`Different from ${url}, which runs a2a-edge 0.5.0 (the project has ${version}):\n\n    public: callers with credentials may call what runs, and anybody what is in the project\n`), output);
  });
  const gone = await project.run("deploy", "--var", "PUBLIC_URL:http://127.0.0.1:1");
  assert.equal(gone.code, 0, gone.output);
  assert.match(gone.output, /^What runs at http:\/\/127\.0\.0\.1:1 could not be compared: http:\/\/127\.0\.0\.1:1 cannot be reached/m);
});

/** Runs a deploy on a terminal, and answers its question. */
function onTerminal(answer, ...args) {
  const line = [process.execPath, project.at("node_modules/a2a-edge/scripts/a2a-edge.mjs"), "deploy", ...args].map((word) => `'${word}'`).join(" ");
  const child = spawn("script", ["-qec", line, "/dev/null"], { cwd: project.folder, env: project.env });
  let [output, isAnswered] = ["", false];
  child.stdout.on("data", (piece) => {
    output += piece;
    if (isAnswered || !output.includes("Deploy? [y/N]")) return;
    isAnswered = true;
    child.stdin.write(`${answer}\n`);
  });
  return new Promise((resolve) => child.once("close", (code) => resolve({ code, output })));
}

const hasTerminal = process.platform === "linux" && spawnSync("script", ["--version"]).status === 0;

test("on a terminal it asks before something becomes public for the first time", { skip: hasTerminal ? false : "there is no program that makes a terminal" }, async () => {
  const made = () => project.calls().filter(([, command, what]) => command === "queues" && what === "create").length;
  const no = await onTerminal("n");
  assert.equal(no.code, 1);
  assert.match(no.output, /What this deployment does[^]*Anybody will be able to reach public, the console\. Deploy\? \[y\/N\] [^]*Nothing was done\./);
  assert.equal(made(), 0);
  assert.equal((await onTerminal("y")).code, 0);
  assert.equal(made(), 3);
  for (const quiet of [["--yes"], ["--dry-run"]]) assert.doesNotMatch((await onTerminal("n", ...quiet)).output, /Deploy\?/);

  has(WHOLE);
  const again = await onTerminal("n");
  assert.equal(again.code, 0, again.output);
  assert.doesNotMatch(again.output, /Deploy\?/, "all of it was public before, as far as is known");
  const agents = [{ slug: "public", isOpen: false, isDefault: false, access: { securitySchemes: { key: {} } }, card: {} }];
  await deployment(agents, async (url) => {
    const opened = await onTerminal("n", "--var", `PUBLIC_URL:${url}`);
    assert.equal(opened.code, 1, opened.output);
    assert.match(opened.output, /Anybody will be able to reach public\. Deploy\?/);
  });
});
