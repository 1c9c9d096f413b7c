// The objects of A2A 0.1 (protocol of the first releases), and a strict check of them: an unknown member, or a missing
// member or one of another type, is a failure.

import assert from "node:assert/strict";

export type State = "submitted" | "working" | "input-required" | "completed" | "canceled" | "failed" | "unknown";

export interface EarlyPart {
  type: "text" | "file" | "data";
  text?: string;
  file?: { name?: string; mimeType?: string; bytes?: string; uri?: string };
  data?: Record<string, unknown>;
  metadata?: Record<string, unknown>;
}

export interface EarlyMessage {
  role: "user" | "agent";
  parts: EarlyPart[];
  metadata?: Record<string, unknown>;
}

export interface EarlyStatus {
  state: State;
  message?: EarlyMessage;
  timestamp?: string;
}

export interface EarlyArtifact {
  name?: string;
  description?: string;
  parts: EarlyPart[];
  index: number;
  append?: boolean;
  lastChunk?: boolean;
  metadata?: Record<string, unknown>;
}

export interface EarlyTask {
  id: string;
  sessionId: string;
  status: EarlyStatus;
  artifacts?: EarlyArtifact[];
  history?: EarlyMessage[];
  metadata?: Record<string, unknown>;
}

/** The body of a notification: the task, and the event. */
export interface EarlyNotification extends EarlyTask {
  taskId: string;
  eventType: "status" | "artifact";
  timestamp: string;
}

export interface StatusEvent {
  id: string;
  status: EarlyStatus;
  final: boolean;
}

export interface ArtifactEvent {
  id: string;
  artifact: EarlyArtifact;
}

export interface EarlyWebhook {
  url: string;
  token?: string;
  authentication?: { schemes: string[]; credentials?: string };
  events?: ("status" | "artifact")[];
}

/** Checks a value at `path`. */
type Check = (value: unknown, path: string) => void;

const fail = (path: string, wanted: string, value: unknown): never => assert.fail(`${path} must be ${wanted}: ${JSON.stringify(value)}`);

const text: Check = (value, path) => void (typeof value === "string" || fail(path, "a string", value));
const truth: Check = (value, path) => void (typeof value === "boolean" || fail(path, "true or false", value));
const count: Check = (value, path) => void ((Number.isInteger(value) && (value as number) >= 0) || fail(path, "a number from 0", value));
const object: Check = (value, path) =>
  void ((typeof value === "object" && value !== null && !Array.isArray(value)) || fail(path, "an object", value));
const instant: Check = (value, path) =>
  void ((typeof value === "string" && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(value)) || fail(path, "an instant", value));

const oneOf = (...values: unknown[]): Check => (value, path) => void (values.includes(value) || fail(path, `one of ${values}`, value));

const listOf = (check: Check): Check => (value, path) => {
  if (!Array.isArray(value)) fail(path, "a list", value);
  for (const [index, element] of (value as unknown[]).entries()) check(element, `${path}[${index}]`);
};

/** An object with these members; those with a question mark are optional. */
function shape(members: Record<string, Check>): Check {
  return (value, path) => {
    object(value, path);
    const left = { ...(value as Record<string, unknown>) };
    for (const [name, check] of Object.entries(members)) {
      const bare = name.replace("?", "");
      if (left[bare] !== undefined) check(left[bare], `${path}.${bare}`);
      else if (bare === name) fail(path, `an object with ${bare}`, value);
      delete left[bare];
    }
    assert.deepEqual(Object.keys(left), [], `${path} has members that are not known`);
  };
}

const file: Check = (value, path) => {
  shape({ "name?": text, "mimeType?": text, "bytes?": text, "uri?": text })(value, path);
  const { bytes, uri } = value as { bytes?: string; uri?: string };
  if ((bytes === undefined) === (uri === undefined)) fail(path, "either bytes or a uri", value);
};

const part: Check = (value, path) => {
  object(value, path);
  const kinds: Record<string, Check> = {
    text: shape({ type: text, text, "metadata?": object }),
    file: shape({ type: text, file, "metadata?": object }),
    data: shape({ type: text, data: object, "metadata?": object }),
  };
  const { type } = value as EarlyPart;
  (kinds[type] ?? fail(path, "of a known type", value))(value, path);
};

const message = shape({ role: oneOf("user", "agent"), parts: listOf(part), "metadata?": object });
const state = oneOf("submitted", "working", "input-required", "completed", "canceled", "failed");
const status = shape({ state, "message?": message, "timestamp?": instant });
const artifact: Record<string, Check> = { "name?": text, "description?": text, parts: listOf(part), index: count, "metadata?": object };

const members = (history: Check): Record<string, Check> => ({
  id: text, sessionId: text, status, "artifacts?": listOf(shape(artifact)), "history?": listOf(history), "metadata?": object,
});

const task = shape(members(message));
const taskOfStatuses = shape(members(status));
const happened = { taskId: text, eventType: oneOf("status", "artifact"), timestamp: instant };
const statusEvent = shape({ id: text, status, final: truth, "metadata?": object });
const artifactEvent = shape({ id: text, artifact: shape({ ...artifact, append: truth, lastChunk: truth }), "metadata?": object });
const webhook = shape({
  id: text,
  pushNotificationConfig: shape({
    url: text, "token?": text, "authentication?": shape({ schemes: listOf(text), "credentials?": text }), "events?": listOf(oneOf("status", "artifact")),
  }),
});

function as<Value>(check: Check, name: string): (value: unknown) => Value {
  return (value) => {
    check(value, name);
    return value as Value;
  };
}

export const asTask = as<EarlyTask>(task, "the task");
/** A task whose history consists of its statuses. */
export const asTaskOfStatuses = as<Omit<EarlyTask, "history"> & { history?: EarlyStatus[] }>(taskOfStatuses, "the task");
export const asNotification = as<EarlyNotification>(shape({ ...members(message), ...happened }), "the notification");
export const asStatusEvent = as<StatusEvent>(statusEvent, "the event");
export const asArtifactEvent = as<ArtifactEvent>(artifactEvent, "the event");
export const asWebhook = as<{ id: string; pushNotificationConfig: EarlyWebhook }>(webhook, "the webhook");
