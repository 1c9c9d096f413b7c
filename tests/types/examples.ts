// What authors write: the examples of the documentation, and schemas of each library.
import { toStandardJsonSchema } from "@valibot/to-json-schema";
import { Failure, RunOver, executor, tool, type Json, type Message, type Turn } from "a2a-edge";
import { jsonSchema, streamText, tool as aiTool, zodSchema, type LanguageModel } from "ai";
import { type } from "arktype";
import * as v from "valibot";
import { z } from "zod";

declare function modelOf(options: { apiKey: string; fetch: typeof globalThis.fetch }): LanguageModel;

export const find_place = tool({
  description: "Finds a place by its name.",
  needs: ["PLACES_KEY"],
  inputSchema: z.object({ name: z.string().min(1).describe("As Lisbon."), count: z.number().default(1) }),
  async execute({ name, count }, call) {
    const found = await call.fetch(`https://places.example/${name}?n=${count}`, { headers: { "x-key": call.secret("PLACES_KEY") }, timeout: "10 seconds" });
    if (!found.ok) throw new Failure(`the service answered ${found.status}`, { fault: "upstream" });
    return found.json<{ country: string }>();
  },
});

export const poet = executor({
  execute: (turn) => streamText({
    model: modelOf({ apiKey: turn.secret("MODEL_KEY"), fetch: turn.fetch }),
    messages: turn.history().map(({ role, parts }) => ({
      role: role === "ROLE_USER" ? "user" as const : "assistant" as const,
      content: parts.map((part) => ("text" in part ? part.text : "")).join(""),
    })),
    abortSignal: turn.signal,
  }).textStream,
});

export const tables = executor({
  execute(turn) {
    const guests = Number.parseInt(turn.text, 10);
    return Number.isNaN(guests) ? turn.ask("For how many?") : `a table for ${guests}`;
  },
});

interface Seat {
  row: number;
  note?: string;
  price: { euros: number } | undefined;
}

export const seats = executor({
  settings: z.object({ hall: z.string(), rows: z.number().default(10) }),
  recovery: "resume",
  async execute(turn) {
    const rows: number = turn.settings.rows;
    turn.working(`looking for a seat in ${rows} rows`);
    const seat = await turn.step("reserve", async ({ idempotencyKey, signal }) => {
      const answer = await turn.fetch("https://seats.example", { method: "POST", headers: { "idempotency-key": idempotencyKey }, body: turn.settings.hall, signal });
      if (answer.status === 409) throw new Failure("the hall is full", { retryAfter: "1 minute" });
      return answer.json<Seat>();
    }, { retry: { attempts: 3, delay: "1 second" }, timeout: "30 seconds" });
    await turn.step("mail", () => turn.fetch("https://mail.example", { method: "POST", body: JSON.stringify(seat) }).then(() => {}));
    await turn.step("log", () => {});
    const row: number = seat.row;
    return { data: { row, note: seat.note ?? null } };
  },
  onCancel: { sure: true, run: (turn) => turn.fetch("https://seats.example/release", { method: "POST", body: turn.taskId }).then(() => {}) },
});

/** An interface as a result, without a cast. */
export const seat_of = tool({
  description: "Gives a seat.",
  inputSchema: z.object({}),
  execute: (): Seat => ({ row: 1, price: undefined }),
});

export const orders = executor({
  async execute(turn) {
    const paid = turn.callback("paid", { uses: 1, within: "30 days" });
    await turn.step("order", async () => (await turn.fetch("https://shop.example", { method: "POST", body: paid.url })).json());
    const answer = await paid.wait("7 days");
    if (answer.by === "time") throw new Failure("nobody has paid within a week");
    return answer.body;
  },
});

export const trip = executor({
  async execute(turn) {
    const [rain, room] = await Promise.all([turn.remote("weather").send(`Rain in ${turn.text}?`), turn.remote("hotels").send([{ text: turn.text }], { timeout: "1 minute" })]);
    if (room.outcome === "input-required") return turn.ask(room.text);
    for await (const event of turn.remote("hotels").stream("Which?")) if ("statusUpdate" in event) turn.working(event.statusUpdate.status.state);
    const { parts } = await turn.mcp("rooms").call("find", { city: turn.text });
    return [{ text: `${rain.text} ${room.text}` }, ...parts];
  },
});

export const archive = executor({
  async execute(turn) {
    await turn.step("store", async () => void (await turn.env.FILES.put(`${turn.caller.owner}/${turn.taskId}`, JSON.stringify(turn.data))));
    return { data: (await turn.env.FILES.list({ prefix: `${turn.caller.owner}/` })).objects.map(({ key, size }) => ({ key, size })) };
  },
});

export const report = tool({
  description: "Sales of a month.",
  inputSchema: type({ month: "string" }),
  async execute({ month }, { caller, env, idempotencyKey, toolCallId }) {
    if (!caller.may("finance")) throw new Failure("only for finance", { fault: "arguments" });
    const rows = await env.SALES.prepare("SELECT product, cents FROM sales WHERE month = ? AND owner = ?").bind(month, caller.owner).all<{ product: string; cents: number }>();
    return rows.results.map((row) => ({ ...row, idempotencyKey, toolCallId }));
  },
});

/** Everything else of a turn. */
export const all = executor({
  async execute(turn) {
    const { agent, contextId, number, attempt, resumes, metadata, message } = turn;
    const said: readonly Message[] = turn.history();
    const text = await turn.write(new Response("a").body!, { id: "log", name: "Log" });
    await turn.write(async (out) => {
      out.write("a");
      out.write({ url: "https://a.example" });
    });
    turn.artifact([{ text, mediaType: "text/plain" }, { raw: new Uint8Array(3), filename: "a" }], { description: "b", metadata: { agent, number } });
    const woken: "time" | "message" = await turn.wait({ for: "1 day", orMessage: true });
    const time: "time" = await turn.wait(new Date());
    const credentials = await turn.credentials();
    if (credentials === undefined) return turn.askAuth("a token");
    if (woken === "message") return turn.reply((await turn.nextMessage()).parts);
    if (!turn.accepts("text/plain") || turn.timeLeft() < 5) return turn.reject("no");
    try {
      await turn.sleep("2 seconds");
    } catch (error) {
      if (error instanceof RunOver && error.why === "canceled") return undefined;
      throw error;
    }
    turn.recordUsage({ model: "m", inputTokens: 5, outputTokens: 6, costMicros: 7 });
    const task: Json | undefined = turn.task();
    return { contextId, attempt, resumes, metadata: metadata ?? null, role: message.role, said: said.length, time, token: credentials["token"] ?? null, task: task ?? null };
  },
});

/** A helper for any turn. */
export async function charge(turn: Turn<any>, euros: number): Promise<{ receipt: string }> {
  return turn.step("charge", async () => ({ receipt: `${euros}` }));
}

export const streams = executor({
  async *execute(turn) {
    yield `hello ${turn.text}`;
    yield { url: "https://a.example" };
  },
});

export const of_valibot = tool({ description: "a", inputSchema: toStandardJsonSchema(v.object({ city: v.string() })), execute: ({ city }) => city.toUpperCase() });
export const of_arktype = tool({ description: "a", inputSchema: type({ city: "string" }), execute: ({ city }) => city.toUpperCase() });
export const of_json_schema = tool({ description: "a", inputSchema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] }, execute: (args) => String(args["city"]) });
export const of_ai_schema = tool({ description: "a", inputSchema: jsonSchema<{ city: string }>({ type: "object" }), execute: ({ city }) => city.toUpperCase() });
export const of_zod_schema = tool({ description: "a", inputSchema: zodSchema(z.object({ city: z.string() })), execute: ({ city }) => city.toUpperCase() });
export const of_ai = aiTool({
  description: "a",
  inputSchema: z.object({ a: z.number() }),
  execute: async ({ a }, { abortSignal }) => {
    abortSignal?.throwIfAborted();
    return a;
  },
});
export const streamed_of_ai = aiTool({
  description: "a",
  inputSchema: z.object({}),
  async *execute() {
    yield { progress: 1 };
  },
});
