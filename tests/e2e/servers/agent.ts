// The agent behind the servers with the SDKs for JavaScript: the text of a message selects its actions. sample.py has the same agent for
// Python. Its events are JSON of A2A 1.0, or of 0.3, which differ only in names.

/** The version whose names the events have. */
export type Words = "1.0" | "0.3";

type Json = Record<string, unknown>;

/** A message for the agent. */
export interface Turn {
  taskId: string;
  contextId: string;
  /** The message in the form of the SDK. */
  message: unknown;
  text: string;
  /** The parts after the text, in the form of the SDK. */
  rest: unknown[];
  /** The task, if the message continues one. */
  task: unknown;
}

/** Publishes events of a turn. */
export interface Bus {
  task(task: Json): void;
  message(message: Json): void;
  status(event: Json): void;
  artifact(event: Json): void;
}

/** The functions that end held tasks, by the ids of the tasks. */
const held = new Map<string, () => void>();

/** Performs the actions that a message requests. */
export async function act(words: Words, turn: Turn, bus: Bus): Promise<void> {
  const { taskId, contextId, text } = turn;
  const ids = { taskId, contextId };
  const say = (said: string): Json => message(words, ids, said);
  if (text === "message") return bus.message({ ...message(words, { contextId }, "hello yourself") });

  const now = (): string => new Date().toISOString();
  const task = turn.task ?? { id: taskId, contextId, status: { state: state(words, "submitted"), timestamp: now() }, history: [turn.message], artifacts: [] };
  bus.task(kind(words, "task", task as Json));
  const status = (name: string, said?: string): void => {
    const status = { state: state(words, name), timestamp: now(), ...(said !== undefined && { message: say(said) }) };
    const final = ["completed", "failed", "rejected", "canceled", "input-required"].includes(name);
    bus.status(kind(words, "status-update", { ...ids, status, ...(words === "0.3" && { final }) }));
  };
  const artifact = (parts: unknown[], more: Json = {}): void =>
    bus.artifact(kind(words, "artifact-update", { ...ids, artifact: { artifactId: "answer", name: "answer", parts }, append: false, lastChunk: true, ...more }));
  status("working");

  switch (turn.task === undefined ? text : "answer") {
    case "ask":
      return status("input-required", "which colour?");
    case "chunks":
      artifact([part(words, "one ")], { lastChunk: false });
      artifact([part(words, "two ")], { append: true, lastChunk: false });
      artifact([part(words, "three")], { append: true });
      return status("completed");
    case "fail":
      return status("failed", "no luck");
    case "reject":
      return status("rejected", "no luck");
    case "hold":
      await new Promise((done) => setTimeout(done, 300));
      artifact([part(words, "held")]);
      return status("completed");
    case "slow":
      await new Promise<void>((done) => held.set(taskId, done));
      held.delete(taskId);
      return status("canceled");
    case "parts":
      artifact(turn.rest);
      return status("completed");
    default:
      artifact([part(words, text)]);
      return status("completed");
  }
}

/** Ends a held task. */
export function cancel(taskId: string): void {
  held.get(taskId)?.();
}

function message(words: Words, ids: Json, text: string): Json {
  const role = words === "0.3" ? "agent" : "ROLE_AGENT";
  return kind(words, "message", { messageId: crypto.randomUUID(), role, parts: [part(words, text)], ...ids });
}

function part(words: Words, text: string): Json {
  return kind(words, "text", { text });
}

function kind(words: Words, name: string, members: Json): Json {
  return words === "0.3" ? { kind: name, ...members } : members;
}

function state(words: Words, name: string): string {
  return words === "0.3" ? name : `TASK_STATE_${name.toUpperCase().replace("-", "_")}`;
}
