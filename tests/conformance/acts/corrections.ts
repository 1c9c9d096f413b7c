// Where tests of the suite want something else than the specification of A2A 1.0.1. Each entry quotes the sentence that decides, and has the
// test as that sentence wants it. As written such a test has to fail, as corrected it has to pass; anything else is a mistake in this list.
import { isMap, type Members, type RawStep, type ServerStep, type Test } from "./document.ts";

export interface Correction {
  test: string;
  /** What the test wants. */
  wants: string;
  /** The section of A2A 1.0.1, and its words: those of docs/specification.md, or of a comment in specification/a2a.proto. */
  section: string;
  sentence: string;
  /** What the corrected test wants, in words. */
  corrected: string;
  /** Corrects the test in place. */
  correct(test: Test): void;
}

export const CORRECTIONS: Correction[] = [
  ...["JSONRPC-ENV-001", "JSONRPC-CT-001", "JSONRPC-SSE-001", "DM-FMT-001", "DM-EXTRA-001", "VER-NEG-002"].map((test) => ({
    test,
    wants: "an answer to a message without `messageId`",
    section: "5.7",
    sentence: "Fields marked with `[(google.api.field_behavior) = REQUIRED]` indicate that the field **MUST** be present and set in valid messages. Implementations **SHOULD** validate these requirements and reject messages with missing required fields.",
    corrected: "the message has a `messageId`",
    correct: (test: Test) => void Object.assign(messageOf(rawOf(test)), { messageId: `message-of-${test.id}` }),
  })),
  {
    test: "CARD-DISC-002",
    wants: "`REST` as the name of the binding HTTP+JSON",
    section: "4.4.6",
    sentence: "The core ones officially supported are `JSONRPC`, `GRPC` and `HTTP+JSON`.",
    corrected: "the name is `HTTP+JSON`",
    correct: (test) => {
      const items = mapIn(serverStep(test).expect?.body, "supportedInterfaces", "items", "protocolBinding");
      items["one_of"] = ["JSONRPC", "GRPC", "HTTP+JSON"];
    },
  },
  {
    test: "CORE-HIST-005",
    wants: "the third message of the user as the third one of the history",
    section: "3.7",
    sentence: "The Task History field contains Messages exchanged during task execution.",
    corrected: "the questions of the agent stand between the messages of the user",
    correct: (test) => {
      const { assertions = [] } = serverStep(test, "get");
      for (const { any } of assertions) if (any?.path === "history[2].parts[*]") any.path = "history[4].parts[*]";
    },
  },
  {
    test: "CORE-CTX-001",
    wants: "an error for a context id that the client has chosen",
    section: "3.4.1",
    sentence: "Agents **MAY** accept and preserve client-provided `contextId` values",
    corrected: "the task has the context id of the client",
    correct: (test) => {
      const step = serverStep(test);
      delete step.expect_error;
      step.expect = { status: 200, body: { task: { contextId: String(step.params?.["contextId"]) } } };
    },
  },
  ...["CORE-CAP-001", "PUSH-CFG-004"].map((test) => ({
    test,
    wants: "UnsupportedOperationError from an agent without webhooks",
    section: "3.3.4",
    sentence: "If `AgentCard.capabilities.pushNotifications` is `false` or not present, operations related to push notification configuration (Create, Get, List, Delete) **MUST** return [`PushNotificationNotSupportedError`](#332-error-handling).",
    corrected: "the error is PushNotificationNotSupportedError",
    correct: (test: Test) => void (serverStep(test, "set-config").expect_error = { error_type: "PushNotificationNotSupportedError" }),
  })),
  {
    test: "CORE-ERR-007",
    wants: "an object as the details of an error",
    section: "9.5",
    sentence: "Each object in the `data` array **MUST** include a `@type` key that identifies the object's type.",
    corrected: "the details are a list of objects with `@type`",
    correct: (test) => void (serverStep(test).expect_error = { error_type: "TaskNotFoundError", details: { type: "array", count_gte: 1, items: { "@type": { type: "string" } } } }),
  },
  {
    test: "DM-FMT-003",
    wants: "a message of the agent without `contextId`",
    section: "4.1.4",
    sentence: "For server messages, `context_id` must be provided, and `task_id` only if a task was created.",
    corrected: "the message has a context id, and no task id",
    correct: (test) => void (mapIn(serverStep(test).expect?.body, "message")["contextId"] = { matches: "." }),
  },
  {
    test: "DM-ART-003",
    wants: "a part with `file`, as in A2A 0.3",
    section: "4.1.6",
    sentence: "The `raw` byte content of a file.",
    corrected: "the part has `raw`, `filename` and `mediaType`",
    correct: (test) => matchesPart(test, { raw: { type: "string" }, filename: { type: "string" }, mediaType: { type: "string" } }),
  },
  {
    test: "DM-ART-004",
    wants: "a part with `fileUrl`, which no version of A2A has",
    section: "4.1.6",
    sentence: "A `url` pointing to the file's content.",
    corrected: "the part has `url` and `filename`",
    correct: (test) => matchesPart(test, { url: { type: "string" }, filename: { type: "string" } }),
  },
  {
    test: "SEC-AUTH-006",
    wants: "an error instead of the public card for a caller without credentials",
    section: "7.3",
    sentence: "The client discovers the server's required authentication schemes via the `securitySchemes` field in the AgentCard.",
    corrected: "the list of tasks is asked for; the refusal has `WWW-Authenticate`",
    correct: (test) => {
      const step = rawOf(test);
      step.raw.path = "/tasks";
      step.expect = { status: 401, body: { error: { exists: true } } };
    },
  },
  {
    test: "REST-PD-001",
    wants: "errors as problem details (RFC 9457)",
    section: "11.6",
    sentence: "HTTP error responses use the [google.rpc.Status](https://github.com/googleapis/googleapis/blob/master/google/rpc/status.proto) JSON representation",
    corrected: "the error is a `google.rpc.Status`",
    correct: (test) => {
      rawOf(test).expect = { status: 404, body: { error: { code: 404, status: "NOT_FOUND", message: { type: "string" }, details: { type: "array", count_gte: 1 } } } };
    },
  },
  {
    test: "CLIENT-PARSE-006",
    wants: "that a client reads a part with `fileUrl`, which no version of A2A has",
    section: "4.1.6",
    sentence: "A `url` pointing to the file's content.",
    corrected: "the parts of files have `raw` and `url`",
    correct: (test) => {
      const [step] = test.steps;
      if (step === undefined || !("client_response" in step)) throw new Error(`${test.id} is about no response`);
      const { artifacts = [] } = mapIn(step.client_response.wire_payload, "result") as { artifacts?: { parts: Members[] }[] };
      for (const artifact of artifacts) artifact.parts = artifact.parts.map(partOf);
    },
  },
];

/** A test as the specification wants it, and the test that was given as it was. */
export function corrected(test: Test, { correct }: Correction): Test {
  const copy = structuredClone(test);
  correct(copy);
  return copy;
}

/** The sentences that none of these texts contains, however lines are broken there and comments marked. */
export function unquoted(corrections: Correction[], texts: string[]): string[] {
  const plain = texts.map((text) => text.replace(/^\s*\/\/ ?/gm, "").replace(/\s+/g, " "));
  return corrections.map(({ sentence }) => sentence).filter((sentence) => plain.every((text) => !text.includes(sentence)));
}

function partOf(part: Members): Members {
  const { file, fileUrl } = part;
  if (isMap(file)) return { raw: file["bytes"], filename: file["name"], mediaType: file["mediaType"] };
  return isMap(fileUrl) ? { url: fileUrl["url"], filename: fileUrl["name"], mediaType: fileUrl["mediaType"] } : part;
}

function matchesPart(test: Test, match: Members): void {
  for (const { any } of serverStep(test).assertions ?? []) if (any !== undefined) any.match = match;
}

function serverStep(test: Test, id?: string): ServerStep {
  const step = test.steps.find((step) => "operation" in step && (id === undefined || step.id === id));
  if (step === undefined) throw new Error(`${test.id} has no such step`);
  return step as ServerStep;
}

function rawOf(test: Test): RawStep {
  const step = test.steps.find((step) => "raw" in step);
  if (step === undefined) throw new Error(`${test.id} has no raw step`);
  return step as RawStep;
}

const messageOf = ({ raw }: RawStep): Members => mapIn(raw.body, "params", "message");

function mapIn(value: unknown, ...path: string[]): Members {
  const found = path.reduce<unknown>((holder, name) => (isMap(holder) ? holder[name] : undefined), value);
  if (!isMap(found)) throw new Error(`there is no ${path.join(".")}`);
  return found;
}
