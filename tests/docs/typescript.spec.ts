// The TypeScript of examples/typescript and of the pages, in projects as their authors have them: its types, its tests, and what the page says of it.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { basename, join } from "node:path";
import { text } from "node:stream/consumers";
import { after, before, describe, test } from "node:test";
import { pages, readPage, root } from "./markdown.mjs";
import { generate, makeProject, runIn, served, typeMistakes, type Project } from "./projects.mjs";

const EXAMPLES = "examples/typescript";
const page = readPage("docs/typescript.md");
const TOTALS = /^ℹ (?:tests|pass|fail) (\d+)$/gm;

/** Runs the tests of a project; all must pass, and there must be some. */
async function passes(project: Project): Promise<void> {
  const files = readdirSync(project.at("tests")).filter((name) => name.endsWith(".test.ts")).map((name) => join("tests", name));
  const { code, output } = await runIn(project, process.execPath, ["--disable-warning=ExperimentalWarning", "--test", "--test-reporter=spec", ...files]);
  assert.equal(code, 0, output);
  const [all, passed, failed] = [...output.matchAll(TOTALS)].map(([, count]) => Number(count));
  assert.ok(all !== undefined && all >= files.length && all === passed && failed === 0, output);
}

describe("examples/typescript", () => {
  let project: Project;
  before(async () => {
    project = makeProject({ from: [EXAMPLES] });
    await generate(project);
  });
  after(() => project.remove());

  test("it compiles, strictly", async () => {
    assert.equal(await typeMistakes(project, ["src", "tests"]), "");
  });

  test("its tests pass", () => passes(project));

  test("the page shows ten examples, each from a file that has a test, or is one", () => {
    const [, after = ""] = page.text.split("\n## Ten examples\n");
    const examples = (after.split(/\n## /)[0] ?? "").split(/\n### \d+ /).slice(1);
    assert.equal(examples.length, 10);
    for (const example of examples) {
      const file = /^\[(examples\/typescript\/\S+)\]\(\.\.\/\1\)\n\n```ts\n/m.exec(example)?.[1];
      assert.ok(file, `no file is shown: ${example.split("\n")[0]}`);
      const tested = /\/tests\//.test(file) ? file : `${EXAMPLES}/tests/${basename(file, ".ts")}.test.ts`;
      assert.ok(existsSync(join(root, tested)), `${tested} is missing`);
      assert.ok(/\btest\("/.test(readFileSync(join(root, tested), "utf8")), `${tested} has no test`);
    }
  });
});

describe("examples/typescript/expenses", () => {
  let project: Project;
  before(async () => {
    project = makeProject({ from: [`${EXAMPLES}/expenses`] });
    await generate(project);
  });
  after(() => project.remove());

  test("it is one file of at most 60 lines", () => {
    const lines = readFileSync(project.at("src", "index.ts"), "utf8").trimEnd().split("\n");
    assert.ok(lines.length <= 60, `${lines.length} lines`);
    assert.deepEqual(readdirSync(project.at("src")), ["index.ts"]);
  });

  test("it compiles, strictly", async () => {
    assert.equal(await typeMistakes(project, ["src", "tests"]), "");
  });

  test("its tests pass", () => passes(project));

  test("served, it enters receipts of two callers, asks, is booked by the ledger, and tells a webhook; its coordinator passes questions on", async () => {
    const ledger = await startLedger();
    const file = project.at("agents", "expenses.toml");
    writeFileSync(file, readFileSync(file, "utf8").replace("https://ledger.example.com", ledger.url));
    writeFileSync(project.at(".dev.vars"), `LEDGER_KEY=${KEYS.ledger}\nADA_KEY=${KEYS.ada}\nBOB_KEY=${KEYS.bob}\nWEBHOOK_ALLOW_PRIVATE=true\n`);
    try {
      await served(project, (url) => worksServed(url, ledger));
    } finally {
      ledger.stop();
    }
  });
});

const KEYS = { ledger: "ledger-key-of-tests", ada: "key-of-ada-in-tests", bob: "key-of-bob-in-tests" };

interface Entry { owner: string; what: string; euros: string; approvedBy: string | null; notify: string }
interface Ledger { url: string; entries: Entry[]; notified: string[]; stop(): void }

/** A ledger that books each entry at once, and a receiver of notifications. */
async function startLedger(): Promise<Ledger> {
  const entries: Entry[] = [];
  const notified: string[] = [];
  const server = createServer(async (request, response) => {
    const body = await text(request);
    if (request.url === "/hook") {
      notified.push(body);
      return void response.end();
    }
    if (request.headers.authorization !== `Bearer ${KEYS.ledger}`) return void response.writeHead(401).end("who are you?");
    const entry = JSON.parse(body) as Entry;
    response.setHeader("content-type", "application/json").end(JSON.stringify({ entry: `E-${entries.push(entry)}` }));
    await fetch(entry.notify, { method: "POST", body: "booked" });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, entries, notified, stop: () => void server.close().closeAllConnections() };
}

interface Task { id: string; status: { state: string; message?: { parts: { text?: string }[] } }; artifacts?: { parts: { text?: string }[] }[] }

async function worksServed(url: string, ledger: Ledger): Promise<void> {
  const ask = async (slug: string, caller: "ada" | "bob", said: string, more: object = {}, configuration = {}): Promise<Task> => {
    const message = { messageId: randomUUID(), role: "ROLE_USER", parts: [{ text: said }], ...more };
    const headers = { "content-type": "application/json", "x-api-key": KEYS[caller] };
    const answer = await fetch(`${url}/${slug}/message:send`, { method: "POST", headers, body: JSON.stringify({ message, configuration }) });
    const { task } = (await answer.json()) as { task?: Task };
    assert.ok(task, `${slug} answered ${answer.status}`);
    return over(slug, caller, task);
  };
  /** The task when its run neither works nor waits: a send does not wait for a run that is parked. */
  const over = async (slug: string, caller: "ada" | "bob", { id }: Task): Promise<Task> => {
    for (const deadline = Date.now() + 20_000; ; await new Promise((done) => setTimeout(done, 50))) {
      const task = (await (await fetch(`${url}/${slug}/tasks/${id}`, { headers: { "x-api-key": KEYS[caller] } })).json()) as Task;
      if (!/WORKING|SUBMITTED/.test(task.status.state)) return task;
      assert.ok(Date.now() < deadline, `the task is ${task.status.state}`);
    }
  };
  const textsOf = ({ artifacts = [] }: Task) => artifacts.map(({ parts }) => parts.map(({ text: said = "" }) => said).join("")).sort();

  const hook = { taskPushNotificationConfig: { url: `${ledger.url}/hook` } };
  const lunch = await ask("expenses", "ada", "Lunch with Ada, 42.50 EUR", {}, hook);
  assert.deepEqual([lunch.status.state, textsOf(lunch)], ["TASK_STATE_COMPLETED", ["Lunch with Ada: 42.50 EUR, booked as E-1"]]);
  for (const deadline = Date.now() + 20_000; !ledger.notified.some((body) => body.includes("TASK_STATE_COMPLETED")); await new Promise((done) => setTimeout(done, 50))) {
    assert.ok(Date.now() < deadline, "the webhook is told of the end");
  }

  const train = await ask("expenses", "bob", "Train to Lisbon, 180 EUR");
  assert.deepEqual([train.status.state, ledger.entries.length], ["TASK_STATE_INPUT_REQUIRED", 1]);
  const headers = { "x-api-key": KEYS.ada };
  assert.equal((await fetch(`${url}/expenses/tasks/${train.id}`, { headers })).status, 404, "ada does not see the task of bob");
  assert.equal((await ask("expenses", "bob", "Grace", { taskId: train.id })).status.state, "TASK_STATE_COMPLETED");
  assert.deepEqual(ledger.entries.map(({ owner, approvedBy }) => [owner, approvedBy]), [["key:ada", null], ["key:bob", "Grace"]]);

  const day = await ask("office", "ada", "Taxi, 18 EUR\nhotel, 240 EUR\nhello");
  assert.match(day.status.message?.parts[0]?.text ?? "", /^hotel costs more than 100 EUR/);
  const done = await ask("office", "ada", "Linus", { taskId: day.id });
  assert.deepEqual(textsOf(done).map((said) => said.replace(/E-\d/, "E")), ["Taxi: 18 EUR, booked as E", "hotel: 240 EUR, booked as E", 'not entered: a receipt is a line such as "Lunch with Ada, 42.50 EUR"']);
  assert.equal(ledger.entries.at(-1)?.approvedBy, "Linus");
}

/** Blocks of pages that are no files, by the paths that they have in a project: modules, and files that the first line of a block names. */
const blocks = pages().flatMap(({ path, blocks: of }) => {
  const shown = of.filter(({ lang, skip, before: line }) => lang === "ts" && skip === undefined && !/^\[[^\]]*\]\(/.test(line));
  const folder = `pages/${path.replace(/\W/g, "-")}`;
  return shown.map(({ text, line }) => [`${folder}/${/^\/\/ (\S+\.ts)\n/.exec(text)?.[1] ?? `line-${line}.ts`}`, `${text}\n`] as const);
});

test("the blocks of TypeScript on pages compile, strictly", async () => {
  assert.ok(blocks.length > 10, "the pages are read");
  // The names of secrets are known from files such as this one.
  const secrets = blocks.flatMap(([, code]) => [...code.matchAll(/\.secret\("(\w+)"\)/g)].map(([, name]) => `${name}=a-value\n`));
  const project = makeProject({ files: { ...Object.fromEntries(blocks), "tests/test.vars": secrets.join("") } });
  try {
    await generate(project);
    assert.equal(await typeMistakes(project, ["pages"]), "");
  } finally {
    project.remove();
  }
});
