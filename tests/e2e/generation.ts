// The operations on tasks in either binding, with expected and returned generations (docs/generation.md), on the agent `demo`
// of the Worker of a spec file.

import assert from "node:assert/strict";
import * as answers from "./answers.ts";
import type { Headers } from "./answers.ts";
import { message, type Message, type Task } from "./client.ts";
import { demo } from "./demo.ts";

export { demo, withWorker, worker } from "./demo.ts";

export const EXTENSION = "urn:a2a-edge:generation:v1";

/** The member of a task's metadata with its generation. */
export const MEMBER = `${EXTENSION}/generation`;

/** An answer with its task, if any. */
export interface Answer extends answers.Answer {
  task: Task | undefined;
}

/** The operations on tasks in the form of a binding. */
export interface Binding {
  /** The status or code of a conflict, and of invalid parameters. */
  conflict: number;
  invalid: number;
  send(said: Message, headers?: Headers): Promise<Answer>;
  get(id: string, headers?: Headers): Promise<Answer>;
  cancel(id: string, headers?: Headers): Promise<Answer>;
  list(headers?: Headers): Promise<Answer>;
  subscribe(id: string, headers?: Headers): Promise<Answer>;
}

export const bindings: Record<string, Binding> = {
  "JSON-RPC": {
    conflict: -32010,
    invalid: -32602,
    send: (said, headers) => ofRpc("SendMessage", { message: said }, headers),
    get: (id, headers) => ofRpc("GetTask", { id }, headers),
    cancel: (id, headers) => ofRpc("CancelTask", { id }, headers),
    list: (headers) => ofRpc("ListTasks", {}, headers),
    subscribe: (id, headers) => ofRpc("SubscribeToTask", { id }, headers),
  },
  "HTTP+JSON": {
    conflict: 409,
    invalid: 400,
    send: (said, headers) => ofRest("POST", "/message:send", { message: said }, headers),
    get: (id, headers) => ofRest("GET", `/tasks/${id}`, undefined, headers),
    cancel: (id, headers) => ofRest("POST", `/tasks/${id}:cancel`, {}, headers),
    list: (headers) => ofRest("GET", "/tasks", undefined, headers),
    subscribe: (id, headers) => ofRest("POST", `/tasks/${id}:subscribe`, {}, headers),
  },
};

/** Calls a method of JSON-RPC. */
export async function ofRpc(method: string, params: unknown, headers?: Headers): Promise<Answer> {
  return withTask(await answers.rpc(demo.endpoint, method, params, headers));
}

async function ofRest(verb: string, path: string, body: unknown, headers?: Headers): Promise<Answer> {
  return withTask(await answers.rest(demo.endpoint + path, verb, body, headers));
}

function withTask(answer: answers.Answer): Answer {
  const result = answer.result as (Task & { task?: Task }) | undefined;
  return { ...answer, task: result?.task ?? result };
}

/** The headers of a request that expects this generation. */
export const at = (generation: number | string): Headers => ({ "if-generation-match": String(generation) });

/** The headers of a request that waits for a generation after this one, for this number of seconds. */
export const beyond = (generation: number | string, wait?: number): Headers => ({
  "after-generation": String(generation),
  ...(wait === undefined ? {} : { prefer: `wait=${wait}` }),
});

/** A task that has asked for a colour, and its generation. */
export async function asking(): Promise<{ task: Task; generation: number }> {
  const { task, generation } = await ofRpc("SendMessage", { message: message("ask") });
  assert.ok(task !== undefined && generation !== undefined);
  return { task, generation };
}
