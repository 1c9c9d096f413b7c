// The operations on webhooks in either binding, with the Worker of a spec file.

import { randomUUID } from "node:crypto";
import { after, before } from "node:test";
import { rest, rpc, type Answer, type Headers } from "./answers.ts";
import { Agent } from "./client.ts";
import { startWorker, type Worker } from "./harness.ts";

/** The extension that docs/webhooks.md describes. */
export const EXTENSION = "urn:a2a-edge:webhooks:v1";

export let worker: Worker;

/** Runs the tests of the file with a Worker. */
export function withWorker(): void {
  before(async () => {
    worker = await startWorker({ notes: true });
  });
  after(() => worker.stop());
}

/** A webhook in the form of requests. */
export type Config = Record<string, unknown>;

/** The operations on webhooks in the form of a binding; `agent` is its path. */
export interface Binding {
  /** The statuses of refusals. */
  invalid: number;
  notFound: number;
  notSupported: number;
  /** The result of a deletion. */
  deleted: unknown;
  create(agent: string, taskId: string, config: Config, headers?: Headers): Promise<Answer>;
  get(agent: string, taskId: string, id: string, headers?: Headers): Promise<Answer>;
  list(agent: string, taskId: string, headers?: Headers): Promise<Answer>;
  remove(agent: string, taskId: string, id: string): Promise<Answer>;
  deliveries(agent: string, taskId: string, id: string): Promise<Answer>;
  redeliver(agent: string, taskId: string, id: string, fromGeneration?: unknown): Promise<Answer>;
  send(agent: string, params: object, headers?: Headers): Promise<Answer>;
}

const escaped = encodeURIComponent;

/** The path of the webhooks of a task. */
export const configs = (taskId: string) => `/tasks/${escaped(taskId)}/pushNotificationConfigs`;

/** A method of JSON-RPC, at the path of an agent. */
export const call = (agent: string, method: string, params: object, headers?: Headers): Promise<Answer> =>
  rpc(worker.url + agent, method, params, headers);

const at = (agent: string, taskId: string, more = "") => worker.url + agent + configs(taskId) + more;

export const bindings: { "JSON-RPC": Binding; "HTTP+JSON": Binding } = {
  "JSON-RPC": {
    invalid: -32602,
    notFound: -32001,
    notSupported: -32003,
    deleted: null,
    create: (agent, taskId, config, headers) => call(agent, "CreateTaskPushNotificationConfig", { taskId, ...config }, headers),
    get: (agent, taskId, id, headers) => call(agent, "GetTaskPushNotificationConfig", { taskId, id }, headers),
    list: (agent, taskId, headers) => call(agent, "ListTaskPushNotificationConfigs", { taskId }, headers),
    remove: (agent, taskId, id) => call(agent, "DeleteTaskPushNotificationConfig", { taskId, id }),
    deliveries: (agent, taskId, id) => call(agent, "ListTaskPushNotificationDeliveries", { taskId, id }),
    redeliver: (agent, taskId, id, fromGeneration) => call(agent, "RedeliverTaskPushNotifications", { taskId, id, fromGeneration }),
    send: (agent, params, headers) => call(agent, "SendMessage", params, headers),
  },
  "HTTP+JSON": {
    invalid: 400,
    notFound: 404,
    notSupported: 400,
    deleted: {},
    create: (agent, taskId, config, headers) => rest(at(agent, taskId), "POST", config, headers),
    get: (agent, taskId, id, headers) => rest(at(agent, taskId, `/${escaped(id)}`), "GET", undefined, headers),
    list: (agent, taskId, headers) => rest(at(agent, taskId), "GET", undefined, headers),
    remove: (agent, taskId, id) => rest(at(agent, taskId, `/${escaped(id)}`), "DELETE"),
    deliveries: (agent, taskId, id) => rest(at(agent, taskId, `/${escaped(id)}/deliveries`), "GET"),
    redeliver: (agent, taskId, id, fromGeneration) => rest(at(agent, taskId, `/${escaped(id)}:redeliver`), "POST", { fromGeneration }),
    send: (agent, params, headers) => rest(worker.url + agent + "/message:send", "POST", params, headers),
  },
};

/** A task that waits for an answer, and so has no further events. */
export async function asking(): Promise<string> {
  return (await new Agent(`${worker.url}/demo`).sendForTask("ask")).id;
}

/** A URL that is allowed for webhooks. */
export const hook = () => `https://hooks.example.com/${randomUUID()}`;

/** A signing secret of this length. */
export const secret = (bytes: number) => `whsec_${Buffer.alloc(bytes, 7).toString("base64")}`;
