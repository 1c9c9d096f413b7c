// What is said of agents that the served Worker cannot make.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { after, before, test } from "node:test";
import { stopIfUnservable, toldUnservable } from "../../scripts/lib/unservable.mjs";
import { Stop } from "../../scripts/lib/ui.mjs";

let server, url, body;
before(async () => {
  server = createServer((request, response) => response.end(request.url === "/console/api/agents" ? body : "else")).listen(0, "127.0.0.1");
  await once(server, "listening");
  url = `http://127.0.0.1:${server.address().port}`;
});
after(() => server.close());

const agent = (slug, health) => ({ slug, health });
const KIND = 'agents/quiz.toml:6: `executor.kind` there is no kind of executor "quizz", did you mean "quiz"?; there are: tools, quiz';

test("agents whose executor cannot be made are told with the reason, and end the tests", async () => {
  const others = [agent("fine", { state: "ok" }), agent("locked", { state: "misconfigured", part: "access", reason: "the secret KEY is not set" })];
  body = JSON.stringify({ agents: [...others, agent("quiz", { state: "misconfigured", part: "executor", reason: KIND })] });
  const told = `The Worker cannot make the executors of these agents, which refuse every message:\n\n    quiz: ${KIND}`;
  assert.equal((await toldUnservable(url)).trim(), told);
  await assert.rejects(stopIfUnservable(url), (error) => error instanceof Stop && error.message === told);
  body = JSON.stringify({ agents: others });
  assert.equal(await toldUnservable(url), undefined);
  await stopIfUnservable(url);
});

test("a Worker that does not tell stops nothing", async () => {
  for (const text of ["no JSON", "{}", '{"agents": 5}', '{"agents": [{"slug": "a"}]}']) {
    body = text;
    assert.equal(await toldUnservable(url), undefined, text);
  }
  assert.equal(await toldUnservable("http://127.0.0.1:1"), undefined);
});
