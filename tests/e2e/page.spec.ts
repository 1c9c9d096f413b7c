// The page for browsers at the URL of an agent. The tested agents are those that the pages themselves list.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { after, before, describe, test } from "node:test";
import { promisify } from "node:util";
import { startWorker, type Worker } from "./harness.ts";

const run = promisify(execFile);
const BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8";

interface Card {
  name: string;
  description: string;
  supportedInterfaces: { url: string }[];
  capabilities: { extensions?: { required?: boolean }[] };
  skills: { name: string; description: string }[];
}

let worker: Worker;
before(async () => {
  worker = await startWorker();
});
after(() => worker.stop());

async function pageAt(path: string, at = worker): Promise<string> {
  const response = await fetch(at.url + path, { headers: { accept: BROWSER } });
  assert.equal(response.status, 200, path);
  return response.text();
}

async function cardAt(path: string): Promise<Card> {
  const response = await fetch(`${worker.url}${path}/.well-known/agent-card.json`);
  return (await response.json()) as Card;
}

function unescape(html: string): string {
  const letters: Record<string, string> = { lt: "<", gt: ">", quot: '"', "#39": "'", amp: "&" };
  return html.replace(/&(\w+|#39);/g, (entity, name: string) => letters[name] ?? entity);
}

const matches = (page: string, pattern: RegExp): string[] => [...page.matchAll(pattern)].map(([, found]) => unescape(found ?? ""));
const links = (page: string): string[] => matches(page, /href="([^"]*)"/g);
const examples = (page: string): string[] => matches(page, /<pre[^>]*><code>([^<]*)<\/code><\/pre>/g);
/** The paths of the agents that a page links to. */
const agents = (page: string): string[] => links(page).filter((link) => /^\/[^./]+$/.test(link));

test("a browser gets a page that says what the agent is, at / and at each agent that the page links to", async () => {
  const paths = agents(await pageAt("/"));
  assert.ok(paths.length > 0, "there are other agents");
  for (const path of ["", ...paths]) {
    const [page, card] = [await pageAt(path || "/"), await cardAt(path)];
    const text = unescape(page);
    assert.match(page, /^<!doctype html><html lang="en">/);
    assert.deepEqual(matches(page, /<h1>([^<]*)<\/h1>/g), [card.name]);
    for (const shown of [card.description, ...card.skills.flatMap((skill) => [skill.name, skill.description])]) {
      assert.ok(text.includes(shown), `${path}: ${shown}`);
    }
    assert.ok(text.includes(`<code>${card.supportedInterfaces[0]?.url}</code>`), `${path} says where it answers`);
    assert.ok(!agents(page).includes(path), `${path} does not link to itself`);
    assert.doesNotMatch(page, /<script|<img|<link/, "it runs and loads nothing");
  }
});

test("the links of a page lead somewhere, among them to the card", async () => {
  for (const path of ["", agents(await pageAt("/"))[0] ?? ""]) {
    const own = links(await pageAt(path || "/")).filter((link) => link.startsWith("/"));
    assert.ok(own.includes(`${path}/.well-known/agent-card.json`), path);
    for (const link of own) assert.equal((await fetch(worker.url + link, { headers: { accept: BROWSER } })).status, 200, link);
  }
});

test("the examples of a page work as they are printed", async () => {
  const others = agents(await pageAt("/"));
  const cards = await Promise.all(others.map(cardAt));
  const demanding = others.filter((_, index) => cards[index]?.capabilities.extensions?.some(({ required }) => required));
  assert.ok(demanding.length > 0, "there is an agent that requires an extension");
  for (const path of ["/", others[0] ?? "/", ...demanding]) {
    const [curl = "", javascript = "", ...more] = examples(await pageAt(path));
    assert.deepEqual(more, []);
    assert.match(curl, /^curl /);
    const outputs = [
      await run("sh", ["-c", curl]),
      await run(process.execPath, ["--input-type=module", "--eval", javascript]),
    ];
    for (const { stdout } of outputs) {
      const answer = JSON.parse(stdout) as { jsonrpc: string; result?: { task?: object; message?: object } };
      assert.ok(answer.result?.task ?? answer.result?.message, `${path}: ${stdout}`);
    }
  }
});

test("a page may be cached, runs nothing and is told from the answer for programs", async () => {
  const response = await fetch(worker.url, { headers: { accept: BROWSER } });
  const policy = response.headers.get("content-security-policy") ?? "";
  assert.match(policy, /^default-src 'none'; style-src 'sha256-[A-Za-z0-9+/]{43}=';/);
  assert.doesNotMatch(policy, /unsafe|script-src/);
  assert.equal(response.headers.get("content-type"), "text/html; charset=utf-8");
  assert.equal(response.headers.get("x-content-type-options"), "nosniff");
  assert.match(response.headers.get("cache-control") ?? "", /^public, max-age=\d+$/);
  assert.equal(response.headers.get("vary")?.toLowerCase(), "accept");
});

test("HEAD gives the headers of GET and no body", async () => {
  for (const accept of [BROWSER, "*/*"]) {
    const [get, head] = [await fetch(worker.url, { headers: { accept } }), await fetch(worker.url, { method: "HEAD", headers: { accept } })];
    assert.equal(head.status, get.status);
    assert.equal(await head.text(), "");
    for (const name of ["content-type", "cache-control", "vary", "allow", "content-security-policy"]) {
      assert.equal(head.headers.get(name), get.headers.get(name), `${name} for ${accept}`);
    }
  }
});

describe("a program that GETs the URL of an agent", () => {
  for (const accept of ["*/*", "application/json", "application/json, text/html;q=0.9", "text/event-stream", "text/html;q=0"]) {
    test(`is told to POST if it accepts ${accept} (§9.1)`, async () => {
      const [path = "/"] = agents(await pageAt("/"));
      for (const url of [worker.url, `${worker.url}${path}`, `${worker.url}${path}/`]) {
        const response = await fetch(url, { headers: { accept } });
        assert.equal(response.status, 405, url);
        assert.equal(response.headers.get("allow"), "POST, OPTIONS", url);
        assert.equal(response.headers.get("vary")?.toLowerCase(), "accept", url);
        const { error } = (await response.json()) as { error: { code: number } };
        assert.equal(error.code, 405, url);
      }
    });
  }
});

test("an agent that does not exist has no page", async () => {
  const response = await fetch(`${worker.url}/nobody-of-this-name`, { headers: { accept: BROWSER } });
  assert.equal(response.status, 404);
  assert.match(response.headers.get("content-type") ?? "", /^application\/json\b/);
});

test("pages name agents for development in development only, and the public URL where there is one", async () => {
  const public_url = "https://agents.example";
  const deployed = await startWorker({ vars: { DEVELOPMENT: "false", PUBLIC_URL: public_url } });
  try {
    const page = await pageAt("/", deployed);
    const [all, shown] = [agents(await pageAt("/")), agents(page)];
    const hidden = all.filter((path) => !shown.includes(path));
    assert.ok(hidden.length > 0);
    for (const path of all) {
      const { status } = await fetch(deployed.url + path, { headers: { accept: BROWSER } });
      assert.equal(status, hidden.includes(path) ? 404 : 200, path);
    }
    for (const example of examples(page)) assert.ok(example.includes(public_url) && !example.includes(deployed.url), example);
  } finally {
    await deployed.stop();
  }
});
