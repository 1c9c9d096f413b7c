// Remote agents: functions of the test as agents of A2A 1.0, over JSON-RPC.

/** @typedef {import("./index.d.ts").RemoteFunction} RemoteFunction */

const CARD = "/.well-known/agent-card.json";

const STATES = ["completed", "failed", "canceled", "rejected", "input-required", "auth-required", "working", "submitted"];

/** The URL of the remote agent with this name. @param {string} name */
export const remoteUrl = (name) => `https://${encodeURIComponent(name).toLowerCase()}.remote.test`;

/** The remote agents of a test. They are not part of the Worker, so that what they know outlives its crashes. */
export class Remotes {
  /** @type {Map<string, RemoteAgent>} */
  #agents;

  /** @param {Record<string, RemoteFunction>} functions By the names of the agents. */
  constructor(functions) {
    this.#agents = new Map(Object.entries(functions).map(([name, answer]) => [new URL(remoteUrl(name)).origin, new RemoteAgent(name, answer)]));
  }

  /**
   * Answers a request to one of the agents.
   *
   * @param {Request} request
   * @returns {Promise<Response> | undefined} Undefined if it is to somebody else.
   */
  answer(request) {
    return this.#agents.get(new URL(request.url).origin)?.answer(request);
  }
}

class RemoteAgent {
  #name;
  #function;
  /** @type {Map<string, any>} */
  #tasks = new Map();
  /** The tasks by the ids of messages, so that a message that is sent again changes nothing. @type {Map<string, Promise<any>>} */
  #sent = new Map();

  /** @param {string} name @param {RemoteFunction} answer */
  constructor(name, answer) {
    this.#name = name;
    this.#function = answer;
  }

  /** @param {Request} request */
  async answer(request) {
    const { origin, pathname } = new URL(request.url);
    if (request.method === "GET") return pathname === CARD ? Response.json(this.#card(origin)) : new Response("not found", { status: 404 });
    const { id = null, method, params } = /** @type {any} */ (await request.json());
    try {
      return Response.json({ jsonrpc: "2.0", id, result: await this.#call(method, params) });
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error;
      return Response.json({ jsonrpc: "2.0", id, error: { code: error.code, message: error.message } });
    }
  }

  /** @param {string} origin */
  #card(origin) {
    return {
      name: this.#name,
      description: `The remote agent ${this.#name} of the test.`,
      version: "1.0.0",
      supportedInterfaces: [{ url: `${origin}/`, protocolBinding: "JSONRPC", protocolVersion: "1.0" }],
      capabilities: { streaming: false, pushNotifications: false },
      defaultInputModes: ["text/plain", "application/json"],
      defaultOutputModes: ["text/plain", "application/json"],
      skills: [{ id: this.#name, name: this.#name, description: "Answers.", tags: ["test"] }],
    };
  }

  /** @param {string} method @param {any} params @returns {Promise<any>} */
  async #call(method, params) {
    switch (method) {
      case "SendMessage":
        return { task: await this.#send(params.message) };
      case "GetTask":
        return this.#task(params.id);
      case "ListTasks":
        return this.#list(params);
      case "CancelTask":
        return this.#cancel(this.#task(params.id));
      default:
        throw new ProtocolError(-32601, `the remote agents of a test have no ${method}`);
    }
  }

  /** @param {any} message @returns {Promise<any>} */
  #send(message) {
    const known = this.#sent.get(message.messageId);
    if (known !== undefined) return known;
    const task = this.#carryOut(message);
    this.#sent.set(message.messageId, task);
    return task;
  }

  /** @param {any} message */
  async #carryOut(message) {
    const task = message.taskId ? this.#task(message.taskId) : this.#newTask(message.contextId);
    if (isEnded(task)) throw new ProtocolError(-32004, `the task has ended: ${task.status.state}`);
    task.history.push({ ...message, taskId: task.id, contextId: task.contextId });
    this.#tell(task, "working", undefined);
    try {
      this.#conclude(task, await this.#function(message));
    } catch (error) {
      this.#tell(task, "failed", [{ text: error instanceof Error ? error.message : String(error) }]);
    }
    return task;
  }

  /** @param {string} [contextId] */
  #newTask(contextId) {
    const id = `${this.#name}-${this.#tasks.size + 1}`;
    const task = { id, contextId: contextId ?? `context-${id}`, status: {}, artifacts: [], history: [] };
    this.#tasks.set(id, task);
    return task;
  }

  /** @param {any} task @param {Awaited<ReturnType<RemoteFunction>>} answer */
  #conclude(task, answer) {
    if (typeof answer === "object" && answer !== null && "state" in answer) {
      if (!STATES.includes(answer.state)) throw new TypeError(`${JSON.stringify(answer.state)} is no state; there are: ${STATES.join(", ")}`);
      return this.#tell(task, answer.state, answer.text === undefined ? undefined : [{ text: answer.text }]);
    }
    task.artifacts = [{ artifactId: "result", parts: partsOf(answer) }];
    this.#tell(task, "completed", undefined);
  }

  /** @param {any} task @param {string} state @param {object[]} [parts] */
  #tell(task, state, parts) {
    const { id, contextId, history } = task;
    const message = parts && { messageId: `${id}-${history.length}-${state}`, role: "ROLE_AGENT", taskId: id, contextId, parts };
    task.status = { state: `TASK_STATE_${state.toUpperCase().replace("-", "_")}`, timestamp: new Date().toISOString(), ...(message && { message }) };
  }

  /** @param {string} id */
  #task(id) {
    const task = this.#tasks.get(id);
    if (task === undefined) throw new ProtocolError(-32001, `the remote agent ${this.#name} has no task ${id}`);
    return task;
  }

  /** @param {{ contextId?: string }} params */
  #list({ contextId }) {
    const tasks = [...this.#tasks.values()].filter((task) => !contextId || task.contextId === contextId);
    return { tasks, nextPageToken: "", pageSize: tasks.length, totalSize: tasks.length };
  }

  /** @param {any} task */
  #cancel(task) {
    if (isEnded(task)) throw new ProtocolError(-32002, `the task has ended: ${task.status.state}`);
    this.#tell(task, "canceled", undefined);
    return task;
  }
}

/** An error of JSON-RPC. */
class ProtocolError extends Error {
  /** @param {number} code @param {string} message */
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}

/** @param {any} task */
const isEnded = ({ status }) => /_(?:COMPLETED|FAILED|CANCELED|REJECTED)$/.test(status.state ?? "");

/** The parts of what a function answers. @param {unknown} answer @returns {object[]} */
export function partsOf(answer) {
  if (Array.isArray(answer)) return answer.map(partOf);
  return [partOf(answer)];
}

/** @param {any} content */
function partOf(content) {
  if (typeof content === "string") return { text: content };
  if (content?.raw instanceof Uint8Array) return { ...content, raw: Buffer.from(content.raw).toString("base64") };
  if (typeof content === "object" && content !== null && ["text", "data", "raw", "url"].some((key) => key in content)) return content;
  throw new TypeError(`${JSON.stringify(content)} is neither a text nor a part such as { text: "…" } or { data: … }`);
}
