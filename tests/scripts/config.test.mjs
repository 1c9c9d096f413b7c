// wrangler.toml is checked before anything is built, and what it lacks is told as lines to paste.
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { projectFiles } from "../../create/lib/project.mjs";
import { makeOwnProject, root } from "./project.mjs";

let project;
before(() => (project = makeOwnProject()));
after(() => project.remove());

const check = (...options) => project.run("check", ...options);
const COMPLETE = projectFiles("/somewhere/own-agent", { npm: "1.2.3" }).get("wrangler.toml");

/** The lines to paste, which are indented. */
const lines = (output) => output.split("\n").filter((line) => line.startsWith("    ")).map((line) => line.trim());
/** The file without a line, or with another one in its place. */
const without = (line, instead = "") => {
  assert.ok(COMPLETE.includes(`${line}\n`), line);
  return COMPLETE.replace(`${line}\n`, instead && `${instead}\n`);
};

test("where there is no wrangler.toml, the lines to paste are a whole one, which is then in order", async () => {
  project.remove("wrangler.toml");
  const { code, output } = await check();
  assert.equal(code, 1);
  assert.match(output, /There is no wrangler\.toml in /);
  assert.deepEqual(lines(output).slice(0, 2), ['name = "own-agent"', 'main = "src/index.ts"']);
  project.write("wrangler.toml", lines(output).join("\n"));
  assert.deepEqual(await check(), { code: 0, output: "2 agents are in order, and wrangler.toml has what a2a-edge needs.\n" });
});

const INCOMPLETE = [
  ["main", without('main = "src/index.ts"'), "Before the first table:", ['main = "src/index.ts"']],
  ["the main of 0.3.0", without('main = "src/index.ts"', `main = "build/index.js"`), "In place of", ['main = "src/index.ts"']],
  ["an older date", COMPLETE.replace(/(compatibility_date = )"[^"]*"/, '$1"2026-01-01"'), "In place of", ['compatibility_date = "2026-11-17"']],
  [
    "a flag beside another",
    without('compatibility_flags = ["queue_consumer_no_wait_for_wait_until"]', 'compatibility_flags = ["nodejs_compat"]'),
    "In place of", ['compatibility_flags = ["nodejs_compat","queue_consumer_no_wait_for_wait_until"]'],
  ],
  ["the no_bundle of 0.3.0", `no_bundle = true\n${COMPLETE}`, "Without this line:", ["no_bundle = true"]],
  [
    "the assets of 0.3.0", without('directory = "node_modules/a2a-edge/build-console/assets"', 'directory = "build-console/assets"'),
    "In place of directory under [assets]:", ['directory = "node_modules/a2a-edge/build-console/assets"'],
  ],
  ["the build command", without('command = "a2a-edge build"', 'command = "worker-build"'), "Under [build]:", ['command = "a2a-edge build"']],
  ["the class", without('class_name = "TaskObject"', 'class_name = "Tasks"'), 'Under [[durable_objects.bindings]] with name = "TASKS":', ['class_name = "TaskObject"']],
  [
    "the migration, behind others", COMPLETE.replace("[[migrations]]", '[[migrations]]\ntag = "v2"\nnew_sqlite_classes = ["Other"]\n[[migrations]]').replace('["TaskObject"]', '["Another"]'),
    "At the end:", ["[[migrations]]", 'tag = "v3"', 'new_sqlite_classes = ["TaskObject"]'],
  ],
  ["a class without SQLite", COMPLETE.replace("new_sqlite_classes", "new_classes"), "In place of new_classes", ['new_sqlite_classes = ["TaskObject"]']],
  [
    "the folder of the migrations", without('migrations_dir = "node_modules/a2a-edge/migrations"'), 'Under [[d1_databases]] with binding = "DB":',
    ['migrations_dir = "node_modules/a2a-edge/migrations"'],
  ],
  [
    "a producer", without('[[queues.producers]]\nbinding = "DEAD_LETTERS"\nqueue = "own-agent-webhooks-dead"'), "At the end:",
    ["[[queues.producers]]", 'binding = "DEAD_LETTERS"', 'queue = "own-agent-webhooks-dead"'],
  ],
  [
    "the queue of dead letters", without('dead_letter_queue = "own-agent-webhooks-dead"'), 'Under [[queues.consumers]] with queue = "own-agent-webhooks":',
    ['dead_letter_queue = "own-agent-webhooks-dead"'],
  ],
  [
    "a consumer", without('[[queues.consumers]]\nqueue = "own-agent-webhooks-dead"\nmax_batch_size = 10\nmax_batch_timeout = 1\nmax_retries = 3'), "At the end:",
    ["[[queues.consumers]]", 'queue = "own-agent-webhooks-dead"', "max_batch_size = 10", "max_batch_timeout = 1", "max_retries = 3"],
  ],
  [
    "the queue of deletions", without('[[queues.producers]]\nbinding = "DELETIONS"\nqueue = "own-agent-deletions"'), "At the end:",
    ["[[queues.producers]]", 'binding = "DELETIONS"', 'queue = "own-agent-deletions"'],
  ],
  [
    "its consumer", without('[[queues.consumers]]\nqueue = "own-agent-deletions"\nmax_batch_size = 6\nmax_batch_timeout = 0\nmax_retries = 3'), "At the end:",
    ["[[queues.consumers]]", 'queue = "own-agent-deletions"', "max_batch_size = 6", "max_batch_timeout = 0", "max_retries = 3"],
  ],
  ["the cron trigger", without('[triggers]\ncrons = ["17 * * * *"]'), "At the end:", ["[triggers]", 'crons = ["17 * * * *"]']],
];

/** Checks each of the files in one process, because reading the first takes wrangler a second. */
async function checkAll(files) {
  const module = (...parts) => JSON.stringify(pathToFileURL(join(root, ...parts)).href);
  const script = `
    import { readFileSync, writeFileSync } from "node:fs";
    import { unstable_readConfig as read } from ${module("node_modules", "wrangler", "wrangler-dist", "cli.js")};
    import { missing } from ${JSON.stringify(pathToFileURL(project.at("node_modules", "a2a-edge", "scripts", "lib", "config.mjs")).href)};
    const found = JSON.parse(readFileSync("files.json", "utf8")).map((text) => {
      writeFileSync("wrangler.toml", text);
      return missing(read({ config: "wrangler.toml" }, { hideWarnings: true }), { text });
    });
    writeFileSync("found.json", JSON.stringify(found));`;
  project.write("files.json", JSON.stringify(files));
  const { code, output } = await project.node("--no-warnings", "--input-type=module", "-e", script).ended;
  assert.equal(code, 0, output);
  return JSON.parse(project.read("found.json"));
}

test("each thing that is missing is told, alone, and where it belongs", async () => {
  const [complete, ...found] = await checkAll([COMPLETE, ...INCOMPLETE.map(([, toml]) => toml)]);
  assert.deepEqual(complete, []);
  for (const [index, [what, , place, wanted]] of INCOMPLETE.entries()) {
    assert.deepEqual(found[index].map(({ lines: each }) => each), [wanted], what);
    assert.ok(found[index][0].place.startsWith(place), `${what}: ${found[index][0].place}`);
  }
});

test("what belongs to one place is told together, tables at the end", async () => {
  project.write("wrangler.toml", without('main = "src/index.ts"').replace('class_name = "TaskObject"', 'class_name = "Tasks"').replace('crons = ["17 * * * *"]', ""));
  const { code, output } = await check();
  assert.equal(code, 1, output);
  assert.equal(output, `
wrangler.toml lacks what a2a-edge needs.

Before the first table:

    main = "src/index.ts"

Under [triggers]:

    crons = ["17 * * * *"]

Under [[durable_objects.bindings]] with name = "TASKS":

    class_name = "TaskObject"

`);
});

test("an environment needs bindings of its own", async () => {
  project.write("wrangler.toml", `${COMPLETE}\n[env.staging]\n`);
  assert.equal((await check()).code, 0);
  const { code, output } = await check("--env", "staging");
  assert.equal(code, 1);
  assert.deepEqual(lines(output).filter((line) => line.startsWith("[")), [
    "[[env.staging.durable_objects.bindings]]", "[[env.staging.d1_databases]]", "[[env.staging.queues.producers]]",
    "[[env.staging.queues.producers]]", "[[env.staging.queues.consumers]]", "[[env.staging.queues.consumers]]",
    "[[env.staging.queues.producers]]", "[[env.staging.queues.consumers]]",
  ]);
});

test("a file that cannot be read is told as wrangler tells it", async () => {
  project.write("wrangler.toml", "name = ");
  const { code, output } = await check();
  assert.equal(code, 1);
  assert.match(output, /wrangler\.toml cannot be used:/);
});

test("the entry of the Worker, and the name under which it imports the agents, are told", async () => {
  project.write("wrangler.toml", COMPLETE);
  const [entry, manifest] = [project.read("src/index.ts"), project.read("package.json")];
  project.remove("src/index.ts");
  const missing = await check();
  assert.match(missing.output, /The entry of the Worker is missing: src\/index\.ts, that wrangler\.toml names as main\./);
  assert.equal(lines(missing.output).join("\n"), entry.trim().replace("\n\n", "\n"));
  project.write("src/index.ts", entry);
  project.write("package.json", "{}");
  assert.match((await check()).output, /package\.json lacks the name[^]*"imports": \{ "#agents": "\.\/\.a2a-edge\/agents\.js" \}/);
  project.write("package.json", manifest);
});

test("a project with Rust needs its own engine in the place of the package's", async () => {
  const rust = makeOwnProject({ rust: true });
  rust.write("wrangler.toml", COMPLETE);
  const { code, output } = await rust.run("check");
  rust.remove();
  assert.equal(code, 1);
  assert.deepEqual(lines(output), ["[alias]", '"a2a-edge/engine" = "./.a2a-edge/engine.js"']);
});

test("the commands check it before they do anything else", async () => {
  project.write("wrangler.toml", without('main = "src/index.ts"'));
  project.remove(".a2a-edge");
  for (const command of ["start", "test", "deploy"]) {
    const { code, output } = await project.run(command, ...(command === "deploy" ? ["--dry-run"] : []));
    assert.equal(code, 1, output);
    assert.match(output, /wrangler\.toml lacks/);
  }
  assert.ok(!project.exists(".a2a-edge"));
});
