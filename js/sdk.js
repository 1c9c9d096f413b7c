// What a project imports from "a2a-edge/sdk": an AgentExecutor of @a2a-js/sdk as an executor.
import { Role, TaskState } from "@a2a-js/sdk";
import { DefaultExecutionEventBus, RequestContext, ServerCallContext } from "@a2a-js/sdk/server";
import { executor } from "./api/definitions.js";
import { isRunOver } from "./api/errors.js";
import { Saying } from "./api/saying.js";

/** @typedef {import("./index.d.ts").Turn<any>} Turn */
/** @typedef {import("@a2a-js/sdk").Part} SdkPart */

/** The verbs for the states of a task. An executor that cancels its task by itself fails it. */
const VERBS = /** @type {Record<string, string>} */ ({
  TASK_STATE_SUBMITTED: "working",
  TASK_STATE_WORKING: "working",
  TASK_STATE_COMPLETED: "complete",
  TASK_STATE_FAILED: "fail",
  TASK_STATE_CANCELED: "fail",
  TASK_STATE_REJECTED: "reject",
  TASK_STATE_INPUT_REQUIRED: "input_required",
  TASK_STATE_AUTH_REQUIRED: "auth_required",
});

/** What is said in a state that needs a text, where the executor gives none. */
const TEXTS = /** @type {Record<string, string>} */ ({
  TASK_STATE_FAILED: "the agent failed",
  TASK_STATE_CANCELED: "the agent has canceled the task",
  TASK_STATE_REJECTED: "the agent declines the message",
  TASK_STATE_INPUT_REQUIRED: "the agent needs an answer",
  TASK_STATE_AUTH_REQUIRED: "the agent needs credentials",
});

/** @type {typeof import("./sdk.d.ts").fromSdk} */
export function fromSdk(make, { recovery = "fail" } = {}) {
  return executor({
    recovery,
    async execute(turn) {
      const agent = make(turn.env, turn);
      const events = new Events(turn);
      const bus = new DefaultExecutionEventBus();
      bus.on("event", (event) => events.take(event));
      turn.signal.addEventListener("abort", () => cancel(agent, turn, bus), { once: true });
      await agent.execute(await contextOf(turn), bus);
      return events.close();
    },
  });
}

/**
 * Tells the executor that its run is over before it has ended.
 *
 * @param {import("@a2a-js/sdk/server").AgentExecutor} agent @param {Turn} turn @param {any} bus
 */
function cancel(agent, turn, bus) {
  if (!["canceled", "timeout"].includes(turn.signal.reason?.why)) return;
  const told = async () => agent.cancelTask(turn.taskId, bus);
  told().catch((error) => console.error(`cancelTask of ${turn.agent}: ${error?.stack ?? error}`));
}

/** The events of an executor, said as verbs. */
class Events {
  #saying;
  /** @type {Set<string>} */
  #known;
  /** @type {{ error: unknown } | undefined} */
  #trouble;
  #state = "no state";

  /** @param {Turn} turn */
  constructor(turn) {
    this.#saying = new Saying(turn);
    const task = /** @type {any} */ (turn.task());
    this.#known = new Set((task?.artifacts ?? []).map((/** @type {any} */ { artifactId }) => artifactId));
  }

  /**
   * Takes an event. What is published behind the end does not count.
   *
   * @param {import("@a2a-js/sdk/server").AgentExecutionEvent} event
   */
  take(event) {
    if (this.#saying.hasEnded || this.#trouble !== undefined) return;
    try {
      this.#say(event);
    } catch (error) {
      // A listener must not throw into the executor.
      if (!isRunOver(error)) this.#trouble = { error };
    }
  }

  /** Ends the turn when the executor has returned. */
  close() {
    if (this.#trouble !== undefined) throw this.#trouble.error;
    if (this.#saying.hasEnded) return this.#saying.close();
    const ends = "completed, failed, rejected, input-required or auth-required";
    throw new Error(`the executor has returned while its task had ${this.#state}; publish a message, or a status that ends the turn: ${ends}`);
  }

  /** @param {import("@a2a-js/sdk/server").AgentExecutionEvent} event */
  #say(event) {
    switch (event.kind) {
      case "message":
        return this.#saying.take({ do: "reply", parts: partsOf(event.data.parts) });
      case "task":
        return this.#task(event.data);
      case "statusUpdate":
        return this.#status(event.data.status);
      case "artifactUpdate":
        return this.#artifact(event.data.artifact, event.data.append, event.data.lastChunk);
    }
  }

  /** Says the artifacts of a task that are new, and its status. @param {import("@a2a-js/sdk").Task} task */
  #task({ artifacts, status }) {
    for (const artifact of artifacts) {
      if (!this.#known.has(artifact.artifactId)) this.#artifact(artifact, false, true);
    }
    this.#status(status);
  }

  /** @param {import("@a2a-js/sdk").TaskStatus | undefined} status */
  #status(status) {
    const state = TaskState[status?.state ?? TaskState.TASK_STATE_SUBMITTED] ?? "";
    const verb = VERBS[state];
    if (verb === undefined) throw new Error(`there is no state ${status?.state} of a task`);
    this.#state = `the state ${state}`;
    const parts = partsOf(status?.message?.parts ?? []);
    const text = TEXTS[state];
    this.#saying.take({ do: verb, ...(parts.length > 0 ? { parts } : text === undefined ? {} : { text }) });
  }

  /** @param {import("@a2a-js/sdk").Artifact | undefined} artifact @param {boolean} append @param {boolean} isLast */
  #artifact(artifact, append, isLast) {
    if (artifact === undefined) return;
    const { artifactId: id, name, description, metadata } = artifact;
    const parts = partsOf(artifact.parts);
    // A piece that only says that it is the last one.
    if (parts.length === 0) parts.push({ text: "" });
    if (append && this.#known.has(id)) return this.#saying.take({ do: "append", id, parts, last: isLast });
    this.#known.add(id);
    this.#saying.take({ do: "artifact", id, ...given({ name, description, metadata }), parts, more: !isLast });
  }
}

/** What an executor of the SDK gets of a turn. @param {Turn} turn */
async function contextOf(turn) {
  const { taskId, contextId, caller } = turn;
  const user = { isAuthenticated: caller.id !== "anonymous", userName: caller.id };
  const context = new ServerCallContext({ user, requestedVersion: "1.0" });
  const message = { ...messageOf(turn.message), taskId, contextId };
  const request = { tenant: "", message, configuration: undefined, metadata: /** @type {any} */ (turn.metadata) };
  return new RequestContext(request, taskId, contextId, context, turn.number > 1 ? await taskOf(turn) : undefined);
}

/**
 * The task of a follow-up as it was before the message: it had asked.
 *
 * @param {Turn} turn @returns {Promise<import("@a2a-js/sdk").Task>}
 */
async function taskOf(turn) {
  const { status, artifacts = [], metadata } = /** @type {any} */ (turn.task() ?? {});
  const history = turn.history().map(messageOf);
  const hasCredentials = (await turn.credentials()) !== undefined;
  const state = hasCredentials ? TaskState.TASK_STATE_AUTH_REQUIRED : TaskState.TASK_STATE_INPUT_REQUIRED;
  return {
    id: turn.taskId,
    contextId: turn.contextId,
    status: { state, message: history.findLast(({ role }) => role === Role.ROLE_AGENT), timestamp: status?.timestamp },
    artifacts: artifacts.map(artifactOf),
    history,
    metadata,
  };
}

/** @param {any} artifact @returns {import("@a2a-js/sdk").Artifact} */
function artifactOf({ parts, ...artifact }) {
  return { name: "", description: "", metadata: undefined, extensions: [], ...artifact, parts: parts.map(sdkPart) };
}

/** @param {import("./index.d.ts").Message} message @returns {import("@a2a-js/sdk").Message} */
function messageOf({ role, parts, ...message }) {
  const empty = { contextId: "", taskId: "", metadata: undefined, extensions: [], referenceTaskIds: [] };
  return { ...empty, .../** @type {any} */ (message), role: Role[role], parts: parts.map(sdkPart) };
}

/** A part of the wire, as the SDK has it. Its own conversion needs `Buffer`. @param {any} part @returns {SdkPart} */
function sdkPart({ text, raw, url, data, metadata, filename = "", mediaType = "" }) {
  /** @type {any} */
  const content = text !== undefined ? { $case: "text", value: text }
    : raw !== undefined ? { $case: "raw", value: bytesOf(raw) }
    : url !== undefined ? { $case: "url", value: url }
    : { $case: "data", value: data };
  return { content, metadata, filename, mediaType };
}

/** Parts of the SDK, as authors write them. @param {SdkPart[]} parts @returns {any[]} */
function partsOf(parts) {
  return parts.flatMap(({ content, metadata, filename, mediaType }) => {
    if (content === undefined) return [];
    return [{ [content.$case]: content.value ?? null, ...given({ filename, mediaType, metadata }) }];
  });
}

/** The members that are given: the SDK has empty texts and objects in the place of others. @param {Record<string, any>} members */
function given(members) {
  const isGiven = (/** @type {any} */ value) => value !== undefined && (typeof value === "string" ? value : Object.keys(value)).length > 0;
  return Object.fromEntries(Object.entries(members).filter(([, value]) => isGiven(value)));
}

/** @param {string} base64 */
const bytesOf = (base64) => Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
