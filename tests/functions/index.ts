// Tools and executors in TypeScript for the end-to-end tests, in the entry module of a project.
import agents from "#agents";
import { Failure, RunOver, TaskObject, executor, tool, worker } from "a2a-edge";
import { fromVerbs } from "a2a-edge/verbs";
import { chain } from "./chain.ts";

export { TaskObject };

const add = tool({
  description: "Adds two numbers.",
  inputSchema: {
    type: "object",
    properties: { a: { type: "number" }, b: { type: "number", default: 1 } },
    required: ["a"],
    additionalProperties: false,
  },
  execute: ({ a, b = 1 }: { a: number; b?: number }) => ({ sum: a + b }),
});

const locked = tool({
  description: "Opens a lock with the key of the deployment.",
  inputSchema: { type: "object", properties: {} },
  needs: ["LOCK_KEY"],
  execute: (_args, call) => ({ opened: call.secret("LOCK_KEY"), by: call.caller.id, env: Object.keys(call.env).sort() }),
});

const broken = tool({
  description: "Fails as it is told.",
  inputSchema: { type: "object", properties: { how: { type: "string" } }, required: ["how"] },
  async execute({ how }: { how: string }) {
    await Promise.resolve();
    if (how === "failure") throw new Failure("the hall is full", { fault: "upstream" });
    if (how === "text") throw "a thrown text with s3cr3t";
    if (how === "map") return new Map([["a", 1]]) as never;
    throw new Error("cannot connect to postgres://user:s3cr3t@db");
  },
});

/** Streams a text in pieces, with a pause before each. */
const poet = executor({
  async *execute(turn) {
    for (const word of turn.text.split(" ")) {
      await turn.sleep(60);
      yield `${word} `;
    }
  },
});

const tables = executor({
  execute(turn) {
    const guests = Number.parseInt(turn.text, 10);
    return Number.isNaN(guests) ? turn.ask("For how many?") : `a table for ${guests}`;
  },
});

/** Orders at a shop, whose URL is in the message, and waits for the payment. */
const orders = executor({
  async execute(turn) {
    const paid = turn.callback("paid");
    await turn.step("order", async ({ idempotencyKey }) => {
      const answer = await turn.fetch(turn.text, { method: "POST", headers: { "idempotency-key": idempotencyKey }, body: JSON.stringify({ notify: paid.url }) });
      return answer.status;
    }, { retry: 3 });
    turn.working("ordered; waiting for the payment");
    const answer = await paid.wait("7 days");
    if (answer.by === "time") throw new Failure("nobody has paid within a week");
    return answer.body;
  },
});

const released: string[] = [];

/** Fails, ends or waits as the message says. */
const faults = executor({
  async execute(turn) {
    switch (turn.text) {
      case "error": throw new Error("cannot connect to postgres://user:s3cr3t@db");
      case "text": throw "a thrown text with s3cr3t";
      case "undefined": throw undefined;
      case "failure": throw new Failure("the hall is full");
      case "map": return new Map() as never;
      case "cycle": { const a: Record<string, unknown> = {}; a["a"] = a; return { data: a } as never; }
      case "large": return "x".repeat(9_000_000);
      case "unawaited": void turn.step("lost", () => { throw new Error("nobody awaits this s3cr3t"); }); await turn.sleep(200); return "not reached";
      case "open": void turn.step("slow", () => turn.sleep(5_000)); return "done";
      case "late": setTimeout(() => { try { turn.working("late"); } catch (error) { released.push(`${turn.taskId} ${(error as RunOver).why}`); } }, 100); return "done";
      case "lates": await turn.sleep(400); return { data: released };
      case "env": return { data: Object.keys(turn.env).sort() };
      case "wait":
        try { await turn.sleep(10_000); } catch (error) { released.push(`${turn.taskId} caught ${(error as RunOver).why}`); throw error; } finally { released.push(`${turn.taskId} finally`); }
        return "not reached";
      case "park": turn.working("parked"); await turn.wait("3 days"); return "three days later";
      default: return turn.reject(`there is no fault ${turn.text}`);
    }
  },
  onCancel(turn) { released.push(`${turn.taskId} released`); },
});

/** Rings at a URL, and then never gives its thread back, also right behind a wait: the platform ends the isolate. */
const loop = executor({
  async execute(turn) {
    const [url = "", waits] = turn.text.split(" ");
    await turn.step("ring", async () => { await turn.fetch(url); });
    if (waits === "waits") await turn.wait(1);
    for (const until = Date.now() + 3_600_000; Date.now() < until;) loops += 1;
    return "an hour later";
  },
});

let loops = 0;

/** A program of verbs, which tells its usage. */
const verbs = fromVerbs(async function* (turn) {
  const [part] = turn.message.parts as { text?: string }[];
  if (part?.text === "wrong") return yield { do: "usage", inputTokens: -1 };
  yield { do: "usage", inputTokens: 12 };
  yield { do: "artifact", text: "a", more: true };
  yield { do: "usage", inputTokens: 12 };
  yield { do: "complete", usage: { requests: 2, inputTokens: 20, outputTokens: 3, costMicros: 45 } };
});

/** Records its usage outside of steps, before it answers with a message. */
const meter = executor({
  execute(turn) {
    turn.recordUsage({ model: "m-1", inputTokens: 20, outputTokens: 3 });
    return turn.reply("read");
  },
});

export default worker({
  agents,
  tools: { add, locked, broken },
  executors: { poet, tables, orders, chain, faults, loop, verbs, meter },
  fetch: (request) => (new URL(request.url).pathname === "/own" ? new Response("the project's own page") : undefined),
});
