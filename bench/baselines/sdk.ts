// The baseline for comparison with a2a-edge: an agent with the official SDK for TypeScript, with a Durable Object for each task
// and D1 for listing. It is written as by a user of the SDK, and supports the requests of the benchmarks: sends, streams,
// GetTask, ListTasks.
//
// As with a2a-edge, answers are stored before they are sent, and a send waits for the task's row in the index. The baseline
// lacks other features of a2a-edge: an interrupted run is not resumed after a crash, and a stream ends with its object.

import { DurableObject, type D1Database, type DurableObjectState, type ObjectNamespace } from "cloudflare:workers";
import { AgentCard, formatSSEEvent, SSE_HEADERS, type Message } from "@a2a-js/sdk";
import { DefaultRequestHandler, JsonRpcTransportHandler, ServerCallContext, validateVersion, type ExecutionEventBusManager } from "@a2a-js/sdk/server";
import { TaskNotFoundError } from "@a2a-js/sdk/errors";
import { card, Echo } from "./sdk-agent.ts";
import { SingleBus } from "./sdk-bus.ts";
import { IndexStore, ObjectStore } from "./sdk-stores.ts";

interface Env {
  TASKS: ObjectNamespace<Pick<TaskObject, "call">>;
  DB: D1Database;
  /** How long changes of a task are collected before they are written to the index. */
  INDEX_DELAY_MS?: string;
}

interface Call {
  id?: string | number;
  method: string;
  params?: { id?: string; message?: Partial<Message> };
}

/** The object of one task. */
export class TaskObject extends DurableObject<Env> {
  readonly #transport: JsonRpcTransportHandler;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    const store = new ObjectStore(ctx.storage.sql, new IndexStore(env.DB), Number(env.INDEX_DELAY_MS ?? 0));
    this.#transport = transport(store, new Echo(ctx.id.toString()), new SingleBus());
  }

  /** Answers a call without a stream. */
  async call(body: string, version: string): Promise<string> {
    return JSON.stringify(await this.#transport.handle(body, context(version)));
  }

  /** Answers a call with a stream. */
  async fetch(request: Request): Promise<Response> {
    const events = await this.#transport.handle(await request.text(), context(versionOf(request)));
    if (!(Symbol.asyncIterator in events)) return Response.json(events);
    const encoder = new TextEncoder();
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        const { value, done } = await events.next();
        if (done === true) controller.close();
        else controller.enqueue(encoder.encode(formatSSEEvent(value)));
      },
      async cancel() {
        await events.return();
      },
    });
    return new Response(body, { headers: SSE_HEADERS });
  }
}

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    if (request.method !== "POST") return Response.json(AgentCard.toJSON(card));
    const body = await request.text();
    const version = versionOf(request);
    let call: Call | undefined;
    try {
      call = JSON.parse(body) as Call;
      validateVersion(version, card);
      if (call.method === "ListTasks") {
        return Response.json(await transport(new IndexStore(env.DB), new Echo("")).handle(body, context(version)));
      }
      const task = env.TASKS.get(objectOf(call, env));
      if (call.method !== "SendStreamingMessage" && call.method !== "SubscribeToTask") {
        return new Response(await task.call(body, version), { headers: { "content-type": "application/json" } });
      }
      return await task.fetch(new Request(request.url, { method: "POST", headers: request.headers, body }));
    } catch (error) {
      return Response.json({ jsonrpc: "2.0", id: call?.id ?? null, error: JsonRpcTransportHandler.mapToJSONRPCError(error) });
    }
  },
};

/** The id of a task is the id of its object, so the object is found by the task. */
function objectOf({ params }: Call, { TASKS }: Env): { toString(): string } {
  const id = params?.message?.taskId || params?.id;
  if (id === undefined) return TASKS.newUniqueId();
  try {
    return TASKS.idFromString(id);
  } catch {
    throw new TaskNotFoundError(`Task not found: ${id}`);
  }
}

function transport(store: ObjectStore | IndexStore, echo: Echo, buses?: ExecutionEventBusManager): JsonRpcTransportHandler {
  return new JsonRpcTransportHandler(new DefaultRequestHandler(card, store, echo, buses));
}

function versionOf(request: Request): string {
  return request.headers.get("a2a-version") ?? "0.3";
}

function context(requestedVersion: string): ServerCallContext {
  return new ServerCallContext({ requestedVersion });
}
