// The route of development by which commands ask the Worker about its agents, and give it others.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { after, before, test } from "node:test";
import { askWorker, devToken, giveAgents, stopIfUnusable, tellsOfAsking, toldUnusable } from "../../scripts/lib/dev-agents.mjs";
import { Stop } from "../../scripts/lib/ui.mjs";

const TOKEN = devToken();
const NOWHERE = "http://127.0.0.1:1";

let server, url, answer, given;
before(async () => {
  server = createServer(async (request, response) => {
    let body = "";
    for await (const piece of request) body += piece;
    if (request.url !== "/_dev/agents" || request.headers.authorization !== `Bearer ${TOKEN}`) return response.writeHead(403).end("not with this token");
    given = body;
    response.writeHead(answer.status ?? 200).end(answer.text);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  url = `http://127.0.0.1:${server.address().port}`;
});
after(() => server.close());

const KIND = 'agents/quiz.toml:6: `executor.kind` there is no kind of executor "quizz", did you mean "quiz"?';

test("agents that cannot be served are told with the reason, and end the commands that must not go on", async () => {
  answer = { text: JSON.stringify({ unusable: [{ slug: "quiz", reason: KIND }], tools: [], kinds: [] }) };
  const told = `These agents refuse every message, since the Worker cannot serve them:\n\n    quiz: ${KIND}`;
  assert.equal(toldUnusable(await askWorker(url, TOKEN)), told);
  await assert.rejects(stopIfUnusable(url, TOKEN), (error) => error instanceof Stop && error.message === told);
});

test("the needs of tools are told where all agents can be served", async () => {
  const tools = [{ name: "now", needs: ["KEY"] }];
  answer = { text: JSON.stringify({ unusable: [], tools, kinds: ["quiz"] }) };
  assert.deepEqual((await stopIfUnusable(url, TOKEN)).tools, tools);
  assert.equal(toldUnusable(await askWorker(url, TOKEN)), undefined);
});

test("a Worker that does not tell is no Worker without problems", async () => {
  for (const text of ["no JSON", "{}", '{"unusable": 5}', "null"]) {
    answer = { text };
    assert.equal(await askWorker(url, TOKEN), undefined, text);
  }
  assert.equal(await askWorker(url, devToken()), undefined, "with another token");
  assert.equal(await askWorker(NOWHERE, TOKEN), undefined);
  await assert.rejects(stopIfUnusable(NOWHERE, TOKEN), /does not say which agents it can serve/);
});

test("agents are given as they are, and a refusal is told", async () => {
  const agents = { version: "1", index: "{}", agents: { a: "{}" } };
  answer = { status: 204 };
  assert.equal(await giveAgents(url, TOKEN, agents), undefined);
  assert.deepEqual(JSON.parse(given), agents);
  answer = { status: 400, text: "the index cannot be read\n" };
  assert.equal(await giveAgents(url, TOKEN, agents), "it answered 400: the index cannot be read");
  assert.match(await giveAgents(NOWHERE, TOKEN, agents), /^it does not answer: /);
});

test("these requests are left out of the log that is shown", () => {
  for (const line of ["[wrangler:info] GET /_dev/agents 200 OK (3ms)", "PUT /_dev/agents 204 No Content (3ms)"]) assert.ok(tellsOfAsking(line), line);
  for (const line of ["GET /_dev/agents-of-mine 200 OK", "POST /hello/message:send 200 OK (3ms)"]) assert.ok(!tellsOfAsking(line), line);
});
