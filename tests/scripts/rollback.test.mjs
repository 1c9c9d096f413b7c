// `rollback` with an account that is a stand-in, and the forms that versions note of themselves.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { after, before, beforeEach, test } from "node:test";
import { FORMS, MARK, leftAlone, marked, readMark } from "../../scripts/lib/forms.mjs";
import { makeOwnProject, root } from "./project.mjs";

const id = (digit) => `${digit.repeat(8)}-${digit.repeat(4)}-4${digit.repeat(3)}-8${digit.repeat(3)}-${digit.repeat(12)}`;
const [FIRST, SECOND, THIRD] = ["1", "2", "3"].map(id);
const version = (id, day, message, trigger = "upload") => ({ id, metadata: { created_on: `2026-11-0${day}T00:00:00Z` }, annotations: { "workers/triggered_by": trigger, ...(message === undefined ? {} : { "workers/message": message }) } });
const deployment = (day, ...ids) => ({ created_on: `2026-11-0${day}T00:00:00Z`, versions: ids.map((version_id) => ({ version_id, percentage: 100 / ids.length })) });

/** The number of migrations. */
const MIGRATIONS = readdirSync(join(root, "migrations")).length;

let project;
before(() => {
  project = makeOwnProject({ wrangler: "stand-in" });
});
beforeEach(() => {
  project.write("calls.log", "");
  has([version(FIRST, 1, marked("the first")), version(SECOND, 2, MARK), version(THIRD, 3, marked("the third"))], [deployment(1, FIRST), deployment(2, SECOND), deployment(3, THIRD)]);
});
after(() => project.remove());

function has(versions, deployments) {
  project.write("versions.json", JSON.stringify(versions));
  project.write("deployments.json", JSON.stringify(deployments));
}

const done = () => project.calls().map(([, ...args]) => args.join(" ")).filter((call) => call.startsWith("rollback"));

test("the numbers of the forms are those of the Worker", () => {
  const text = readFileSync(join(root, "src/format.rs"), "utf8");
  const read = (name) => Number(new RegExp(`pub const ${name}: Format = Format \\{ reads: (\\d+) \\};`).exec(text)?.[1]);
  const known = [...text.matchAll(/pub const (\w+): Format = /g)].map(([, name]) => name);
  const names = { OBJECT: "object", COMMAND: "command", TURN: "turn", JOB: "job", PAGE_TOKEN: "page" };
  assert.deepEqual(known, Object.keys(names), "each form of src/format.rs has a name here");
  assert.deepEqual(FORMS.map(({ name, read }) => [name, read]), known.map((name) => [names[name], read(name)]));
  assert.equal(FORMS[0].written, Number(/pub const OBJECT_WRITES: u32 = (\d+);/.exec(text)?.[1]));
  assert.ok(FORMS.slice(1).every(({ read, written }) => read === written));
});

test("a message keeps what the user says behind the mark, and another message has none", () => {
  const { length } = readdirSync(join(root, "migrations"));
  assert.equal(MARK, `a2a-edge ${JSON.parse(readFileSync(join(root, "package.json"), "utf8")).version} [object=2 command=3 turn=1 job=1 page=1 d1=${length}]`);
  assert.ok(MARK.length <= 100, "tools cut messages off");
  const { version: read, forms, said } = readMark(marked("a better one: [x]\nand more"));
  assert.equal(said, "a better one: [x]\nand more");
  assert.match(MARK, new RegExp(`^a2a-edge ${read.replaceAll(".", "\\.")} `));
  assert.deepEqual(forms.object, { read: 2, written: 2 });
  assert.deepEqual(readMark("a2a-edge 1.0.0 [object=3/2]").forms, { object: { read: 3, written: 2 } });
  for (const message of [undefined, "", "a2a-edge 0.6.0", "x a2a-edge 0.6.0 [object=2]", "a2a-edge [object=2]", `${MARK} and more`]) assert.equal(readMark(message), undefined, message);
});

test("a version leaves alone what has a larger number than it reads, and nothing else", () => {
  const mark = (forms) => readMark(`a2a-edge 1.0.0 [${forms}]`);
  assert.deepEqual(leftAlone(mark("object=2 command=3 d1=4"), mark("object=2 command=3 d1=4")), { left: [], tables: 0 });
  assert.deepEqual(leftAlone(mark("object=3/2 command=3"), mark("object=2 command=3")).left, [], "it reads 3 and writes 2");
  const { left, tables } = leftAlone(mark("object=3 command=3 job=2 cards=1 d1=6"), mark("object=2 command=3 job=1 d1=4"));
  assert.deepEqual(left.map((sentence) => sentence.split(":")[0]), ["Tasks that were begun or changed since", "Messages in the queue of notifications", 'What has the form "cards", which came with a2a-edge 1.0.0']);
  assert.equal(tables, 2);
});

test("the version of before is the target; what it reads is said before wrangler is called", async () => {
  const { code, output } = await project.run("rollback", "--yes");
  assert.equal(code, 0, output);
  assert.deepEqual(done(), [`rollback ${SECOND} --message=back from ${THIRD} --yes`]);
  assert.match(output, new RegExp(`own-agent runs ${THIRD} \\(of 2026-11-0\\d [\\d:]+, a2a-edge [\\d.]+, "the third"\\)\\.\nIt goes back to ${SECOND} \\(of`));
  assert.ok(output.includes(`reads these forms: object 2, command 3, turn 1, job 1, page 1, d1 ${MIGRATIONS}. That is all that was written since.`), output);
  assert.match(output, /^Objects at work go on with the code of now until they are idle, for 900 s at most\./m);
  assert.ok(output.indexOf("reads these forms") < output.indexOf("==> Going back"));
});

test("without a terminal it needs --yes, and a dry run changes nothing", async () => {
  const { code, output } = await project.run("rollback");
  assert.equal(code, 1);
  assert.match(output, /Nobody can be asked here; add --yes to go on\./);
  assert.equal((await project.run("rollback", "--dry-run")).code, 0);
  assert.deepEqual(done(), []);
});

test("after a rollback the next one does not go to the version that runs", async () => {
  has([version(FIRST, 1, MARK), version(SECOND, 2, MARK)], [deployment(1, FIRST), deployment(2, SECOND), deployment(3, FIRST), deployment(4, FIRST)]);
  await project.run("rollback", "--yes", "--message", "forward again");
  assert.deepEqual(done(), [`rollback ${SECOND} --message=forward again --yes`]);
});

test("a version is named by its id or its beginning, also one that is not listed any more", async () => {
  for (const [given, target] of [["11111111", FIRST], [FIRST, FIRST], [id("7"), id("7")]]) {
    project.write("calls.log", "");
    const { code, output } = await project.run("rollback", given, "--yes", "--env", "");
    assert.equal(code, 1, "an option without a value");
    assert.match(output, /--env needs a value/);
    assert.equal((await project.run("rollback", given, "--yes")).code, 0);
    assert.equal(done()[0].split(" ")[1], target);
  }
  has([version(FIRST, 1), version(`11111111-${SECOND.slice(9)}`, 2), version(THIRD, 3)], [deployment(3, THIRD)]);
  project.write("calls.log", "");
  for (const [given, reason] of [["11111111", /"11111111" names several versions/], ["THE-SECOND", /There is no version "THE-SECOND"/], [THIRD, /is the version that runs/]]) {
    const { code, output } = await project.run("rollback", given, "--yes");
    assert.equal(code, 1);
    assert.match(output, reason);
  }
  assert.deepEqual(done(), []);
});

test("what an older version leaves alone is told, with the tables that stay", async () => {
  has([version(FIRST, 1, `a2a-edge 0.5.9 [object=1 command=3 turn=1 job=1 page=1 d1=${MIGRATIONS - 1}]`), version(SECOND, 2, MARK)], [deployment(1, FIRST), deployment(2, SECOND)]);
  const { output } = await project.run("rollback", "--dry-run");
  assert.match(output, /a2a-edge 0\.5\.9 reads these forms: object 1, command 3, turn 1, job 1, page 1, d1 \d\.\nThe database keeps a migration that it does not know, and it works with the newer tables\.\nIt leaves alone:\n\n {4}Tasks that were begun or changed since: calls to them are answered with 503/);
});

test("where a version has no mark, that is said; a change of a secret has that of the version before", async () => {
  has([version(FIRST, 1, "by hand"), version(SECOND, 2, MARK), version(THIRD, 3, undefined, "secret")], [deployment(1, FIRST), deployment(3, THIRD)]);
  const { output } = await project.run("rollback", "--dry-run");
  assert.match(output, /Which stored forms the one to go back to reads is not known: only `a2a-edge deploy` notes that\./);
  assert.match(output, new RegExp(`${FIRST} \\(of [^)]*, unknown version of a2a-edge, "by hand"\\)`));
});

test("several versions that run beside each other are told", async () => {
  has([version(FIRST, 1, MARK), version(SECOND, 2, MARK), version(THIRD, 3, MARK)], [deployment(1, FIRST), deployment(3, SECOND, THIRD)]);
  const { output } = await project.run("rollback", "--dry-run");
  assert.match(output, new RegExp(`runs ${SECOND} \\([^)]*\\), beside ${THIRD}, which ends, too\\.\nIt goes back to ${FIRST}`));
});

test("an account without the Worker, without another version, without a login, or that wrangler does not tell says what to do", async () => {
  const ends = async (reason) => {
    const { code, output } = await project.run("rollback", "--yes");
    assert.equal(code, 1);
    assert.match(output, reason);
    assert.doesNotMatch(output, /^ +at /m);
  };
  has([], []);
  await ends(/The account has no Worker own-agent, so there is nothing to go back to/);
  project.remove("deployments.json");
  await ends(/The account has no Worker own-agent/);
  has([version(FIRST, 1, MARK)], [deployment(1, FIRST)]);
  await ends(/No other version was deployed among the last ten deployments\. Name one/);
  project.write("deployments.json", "out of order");
  await ends(/wrangler does not tell the deployments of own-agent\. To see why: npx a2a-edge wrangler deployments list/);
  project.write("whoami.json", '{"loggedIn":false}');
  await ends(/You are not logged in to Cloudflare/);
  project.remove("whoami.json");
  assert.deepEqual(done(), []);
});
