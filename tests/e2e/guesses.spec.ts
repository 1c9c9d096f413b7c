// Credentials that no agent accepts, over every entry into the Worker: they are counted and audited once per request, even if one request
// concerns several agents and another of them identifies its caller.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { bearer, caller, rpc, secretsOf, send, type Answer, type Headers } from "./access.ts";
import { message, until } from "./client.ts";
import { startWorker, type LogLine, type Worker } from "./harness.ts";
import { legacy, only } from "./mcp.ts";

const { ALICE, GUESSED } = secretsOf("ALICE", "GUESSED");

let worker: Worker;
before(async () => {
  const guess = { kind: "api_key", name: "X-Guess", callers: [caller("eve", ["GUESSED"])] };
  const counted = { rate_limits: [{ by: "failures", binding: "GUESSES", period_s: 60 }] };
  const agents = only({
    open: { of: "double", access: { open: true } },
    closed: { of: "double", access: { schemes: { token: { kind: "bearer", callers: [caller("alice", ["ALICE"])] } } } },
    secret: { of: "double", access: { schemes: { guess }, ...counted } },
  });
  worker = await startWorker({ vars: { AGENTS: agents, ALICE, GUESSED }, rateLimits: { GUESSES: { limit: 3, period: 60 } } });
  // The emulation of rate limits counts in full minutes.
  const left = 60_000 - (Date.now() % 60_000);
  if (left < 30_000) await new Promise((resolve) => setTimeout(resolve, left));
});
after(() => worker?.stop());

type Ask = (headers: Headers) => Promise<Pick<Answer, "status" | "text">>;

const list: Ask = (headers) => legacy(`${worker.url}/mcp`, "tools/list", {}, headers);
const call: Ask = (headers) => legacy(`${worker.url}/mcp`, "tools/call", { name: "open", arguments: { message: "hi" } }, headers);
const schemas: Ask = (headers) => send(`${worker.url}/console/api/agents/secret/schemas`, "GET", headers);
const own: Ask = (headers) => legacy(`${worker.url}/secret/mcp`, "tools/list", {}, headers);
const direct: Ask = (headers) => rpc(`${worker.url}/secret`, "SendMessage", { message: message("hi") }, headers);

const alice = bearer(ALICE);
const WAYS: [way: string, ask: Ask, others: Headers, wrong: number, caller: string | null][] = [
  ["the list of tools of all agents, for a caller whom another agent knows", list, alice, 200, "token:alice"],
  ["a tool that is another agent, for a caller whom a third one knows", call, alice, 200, "token:alice"],
  ["the list of tools of all agents, for nobody", list, {}, 401, null],
  ["the schemas of the agent", schemas, {}, 401, null],
  ["the tools of the agent", own, {}, 401, null],
  ["the agent itself", direct, {}, 401, null],
];

const linesOf = (request: string): LogLine[] =>
  worker.logs.filter(({ message }) => message.includes("authentication failed") && message.includes(`"request":"${request}"`));

describe("a key that no agent takes is counted and audited once, and over the limit no answer tells a right one", () => {
  for (const [index, [way, ask, others, wrong, who]] of WAYS.entries()) {
    test(way, async () => {
      const show = (key: string, request: string, address: number): ReturnType<Ask> =>
        ask({ ...others, "x-guess": key, "cf-connecting-ip": `192.0.2.${address}`, "cf-ray": `${index}-${request}` });
      const [guesser, other] = [2 * index + 1, 2 * index + 2];
      const statuses = [];
      for (const request of ["one", "two", "three", "four"]) statuses.push((await show(`wrong-${request}`, request, guesser)).status);
      assert.deepEqual(statuses, [wrong, wrong, wrong, 429]);
      assert.equal((await show(GUESSED, "five", guesser)).status, 429, "as a wrong one");
      assert.equal((await show(GUESSED, "right", other)).status, 200, "from another address");

      const [line] = await until(async () => linesOf(`${index}-one`), ({ length }) => length > 0);
      assert.equal(linesOf(`${index}-one`).length, 1);
      const { agent, caller } = JSON.parse(line?.message ?? "") as { agent: string; caller: string | null };
      assert.deepEqual([agent, caller], ["secret", who]);
      assert.deepEqual(linesOf(`${index}-right`), [], "what some agent takes is no guess at the others");
    });
  }
});
