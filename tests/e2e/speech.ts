// Clients of three versions with the methods of one: their events are converted to 1.0, so that a test defines the expected events
// once. The formats of the versions are tested elsewhere.

import { randomUUID } from "node:crypto";
import { Agent, until, type Artifact, type Configuration, type Message, type Part, type Task } from "./client.ts";
import { testAgents } from "./harness.ts";
import { EventStream, type StreamEvent, type StreamResponse } from "./stream.ts";

/** The supported versions of A2A. */
export const VERSIONS = ["1.0", "0.3", "0.1"] as const;
export type Version = (typeof VERSIONS)[number];

/** The same agents, which all support every version. */
export function speakingAll(agents: string = testAgents): string {
  const embedded = JSON.parse(agents) as { agents: object[] };
  const dialects = { v0_3: { enabled: true }, legacy: { enabled: true } };
  return JSON.stringify({ ...embedded, agents: embedded.agents.map((agent) => ({ ...agent, dialects })) });
}

/** The cuts at which a version is tested: all for 1.0, and a third for each of the others, which use the same code. */
export function cutsOf<Cut>(version: Version, cuts: readonly Cut[]): Cut[] {
  const turn = VERSIONS.indexOf(version);
  return cuts.filter((_, index) => turn === 0 || index % 3 === turn);
}

/** A client of an agent in a version. Methods that the version does not have are called as those of 1.0. */
export class Speaker extends Agent {
  readonly version: Version;
  readonly #headers: Record<string, string>;

  constructor(endpoint: string, version: Version, headers: Record<string, string> = {}) {
    super(endpoint, headers);
    this.version = version;
    this.#headers = headers;
  }

  override async call<Result>(method: string, params: unknown, signal?: AbortSignal): Promise<Result> {
    const spoken = this.#spoken(method, params as Params);
    if (spoken === undefined) return super.call(method, params, signal);
    const agent = new Agent(this.endpoint, this.#older());
    const result = agent.call<Heard>(spoken.method, spoken.params, signal);
    const { configuration } = params as Params;
    // A client of 0.1 waits for its send, but it knows the id of the task and can read the task meanwhile.
    if (this.version === "0.1" && configuration?.returnImmediately === true) {
      result.catch(() => undefined);
      const id = spoken.params["id"] as string;
      const found = () => this.getTask(id).catch(() => undefined);
      return { task: await until(found, (task) => task !== undefined) } as Result;
    }
    return (method.startsWith("Send") ? sent(await result) : heardTask(await result)) as Result;
  }

  /** Opens a stream. */
  async stream(method: "SendStreamingMessage" | "SubscribeToTask", params: Params, after?: number): Promise<EventStream> {
    const spoken = this.#spoken(method, params) ?? { method, params };
    const headers = { ...this.#older(), ...(after === undefined ? {} : { "last-event-id": String(after) }) };
    const hear = this.version === "1.0" ? undefined : heardEvent;
    return EventStream.open(this.endpoint, spoken.method, spoken.params, headers, hear);
  }

  #older(): Record<string, string> {
    return this.version === "1.0" ? this.#headers : { ...this.#headers, "a2a-version": this.version === "0.3" ? "0.3" : "" };
  }

  /** A call in the form of this version; undefined for 1.0, or if the version does not have the method. */
  #spoken(method: string, params: Params): { method: string; params: Record<string, unknown> } | undefined {
    const [older, oldest] = METHODS[method] ?? [];
    const name = this.version === "0.1" ? oldest : older;
    if (this.version === "1.0" || name === undefined) return undefined;
    const { message, configuration } = params;
    if (message === undefined) return { method: name, params };
    const hook = configuration?.taskPushNotificationConfig;
    if (this.version === "0.1") {
      const parts = message.parts.map((part) => ({ type: part.text === undefined ? "data" : "text", ...part }));
      const said = { role: "user", parts, metadata: message.metadata };
      return {
        method: name,
        params: { id: message.taskId ?? randomUUID(), sessionId: message.contextId, message: said, pushNotification: hook, historyLength: configuration?.historyLength },
      };
    }
    const parts = message.parts.map((part) => ({ kind: part.text === undefined ? "data" : "text", ...part }));
    const { returnImmediately, taskPushNotificationConfig: _, ...rest } = configuration ?? {};
    return {
      method: name,
      params: { message: { ...message, kind: "message", role: "user", parts }, configuration: { ...rest, blocking: returnImmediately !== true, pushNotificationConfig: hook } },
    };
  }
}

/** The names of methods of 1.0 in 0.3 and in 0.1. */
const METHODS: Record<string, [string, string]> = {
  SendMessage: ["message/send", "tasks/send"],
  SendStreamingMessage: ["message/stream", "tasks/sendSubscribe"],
  GetTask: ["tasks/get", "tasks/get"],
  CancelTask: ["tasks/cancel", "tasks/cancel"],
  SubscribeToTask: ["tasks/resubscribe", "tasks/resubscribe"],
};

/** The parameters of a call. */
export interface Params {
  message?: Message;
  configuration?: Configuration & { taskPushNotificationConfig?: object };
  [name: string]: unknown;
}

/** The used part of a task, a message or an event of an older version. */
interface Heard {
  kind?: string;
  id?: string;
  taskId?: string;
  contextId?: string;
  sessionId?: string;
  messageId?: string;
  role?: string;
  parts?: (Part & { kind?: string; type?: string })[];
  status?: { state: string; message?: Heard; timestamp: string };
  artifact?: Heard & { artifactId?: string; index?: number; append?: boolean; lastChunk?: boolean };
  artifacts?: NonNullable<Heard["artifact"]>[];
  history?: Heard[];
  metadata?: Record<string, unknown>;
  append?: boolean;
  lastChunk?: boolean;
}

function sent(heard: Heard): { task?: Task; message?: Message } {
  return heard.kind === "message" ? { message: heardMessage(heard) } : { task: heardTask(heard) };
}

function heardTask(heard: Heard): Task {
  const { id = "", contextId = heard.sessionId ?? "", status, artifacts, history, metadata } = heard;
  return {
    id,
    contextId,
    status: heardStatus(status),
    ...(artifacts === undefined ? {} : { artifacts: artifacts.map(heardArtifact) }),
    ...(history === undefined ? {} : { history: history.map(heardMessage) }),
    ...(metadata === undefined ? {} : { metadata }),
  };
}

function heardStatus(status: Heard["status"]): Task["status"] {
  const { state, message, timestamp } = status ?? { state: "unknown", timestamp: "" };
  const named = `TASK_STATE_${state.toUpperCase().replaceAll("-", "_")}`;
  return { state: named, timestamp, ...(message === undefined ? {} : { message: heardMessage(message) }) };
}

function heardMessage({ messageId = "", role = "", parts = [], ...rest }: Heard): Message {
  return { ...(rest as object), messageId, role: `ROLE_${role.toUpperCase()}`, parts: parts.map(heardPart) };
}

function heardArtifact({ artifactId, index, parts = [], metadata }: NonNullable<Heard["artifact"]>): Artifact {
  return { artifactId: artifactId ?? `artifact-${index}`, parts: parts.map(heardPart), ...(metadata === undefined ? {} : { metadata }) };
}

function heardPart({ kind: _kind, type: _type, ...part }: Part & { kind?: string; type?: string }): Part {
  return part;
}

function heardEvent(event: StreamEvent): StreamEvent {
  const heard = event.data.result as Heard | undefined;
  return heard === undefined ? event : { ...event, data: { ...event.data, result: heardResponse(heard) } };
}

function heardResponse(heard: Heard): StreamResponse {
  const taskId = heard.taskId ?? heard.id ?? "";
  if (heard.kind === "task") return { task: heardTask(heard) };
  if (heard.kind === "message") return { message: heardMessage(heard) };
  if (heard.artifact === undefined) return { statusUpdate: { taskId, status: heardStatus(heard.status) } };
  const { append = heard.artifact.append, lastChunk = heard.artifact.lastChunk } = heard;
  return {
    artifactUpdate: { taskId, artifact: heardArtifact(heard.artifact), ...(append === undefined ? {} : { append }), ...(lastChunk === undefined ? {} : { lastChunk }) },
  };
}
