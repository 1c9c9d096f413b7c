// Converts the answers of an agent elsewhere from any version of A2A to the shapes of 1.0 (types.ts). No answer is refused: members of a wrong
// type are left out; required members are empty then.
import { isObject, list, members, optional, text, texts, type Members } from "../card.ts";
import type { Artifact, ListTasksResponse, Message, Metadata, Part, SendMessageResponse, StreamResponse, Task, TaskState, TaskStatus } from "../types.ts";

/** Reads the answers of one interface. */
export class Reader {
  /** True if the data of a part is nested in a further member `data`: HTTP+JSON of 0.3. */
  readonly #wrapsData: boolean;

  constructor({ wrapsData }: { wrapsData: boolean }) {
    this.#wrapsData = wrapsData;
  }

  /** The answer to a send: a task or a message, directly or in a member `task` or `message`. */
  readSent(json: unknown): SendMessageResponse {
    const { task, message } = this.readEvent(json, "");
    return task !== undefined ? { task } : message !== undefined ? { message } : {};
  }

  /** An event of a stream. `taskId` is used for events of 0.1 that do not name their task. */
  readEvent(json: unknown, taskId: string): StreamResponse {
    const event = members(json);
    if (isObject(event["task"])) return { task: this.readTask(event["task"]) };
    if (isObject(event["msg"])) return { message: this.#readMessage(event["msg"], "direct") };
    if (isObject(event["message"]) && event["kind"] === undefined) return { message: this.#readMessage(event["message"], "direct") };
    if (isObject(event["statusUpdate"])) return this.#statusUpdate(members(event["statusUpdate"]), taskId);
    if (isObject(event["artifactUpdate"])) return this.#artifactUpdate(members(event["artifactUpdate"]), taskId);
    // 0.3 has a member `kind`; in earlier versions the other members identify the kind.
    if (event["kind"] === "message" || "parts" in event) return { message: this.#readMessage(event, "direct") };
    if (event["kind"] === "artifact-update" || "artifact" in event) return this.#artifactUpdate(event, taskId);
    if (event["kind"] === "status-update" || "final" in event) return this.#statusUpdate(event, taskId);
    return "status" in event ? { task: this.readTask(event) } : {};
  }

  readTask(json: unknown): Task {
    const task = members(json);
    const id = text(task["id"]);
    return {
      id,
      ...optional("contextId", task["contextId"] ?? task["sessionId"]),
      status: this.#readStatus(task["status"], id),
      ...("artifacts" in task ? { artifacts: list(task["artifacts"]).map((one) => this.#readArtifact(one)) } : {}),
      ...("history" in task ? { history: list(task["history"]).map((one, at) => this.#readMessage(one, `${id}/history/${at}`)) } : {}),
      ...metadata(task),
    };
  }

  readTasks(json: unknown): ListTasksResponse {
    const page = members(json);
    const tasks = list(page["tasks"]).map((one) => this.readTask(one));
    const total = page["totalSize"];
    return { tasks, nextPageToken: text(page["nextPageToken"]), pageSize: tasks.length, totalSize: typeof total === "number" ? total : tasks.length };
  }

  /** `fallback` becomes the id of a message without an id, as in 0.1. */
  #readMessage(json: unknown, fallback: string): Message {
    const message = members(json);
    return {
      messageId: text(message["messageId"]) || fallback,
      role: /agent$/i.test(text(message["role"])) ? "ROLE_AGENT" : "ROLE_USER",
      parts: list(message["parts"] ?? message["content"]).map((one) => this.#readPart(one)),
      ...optional("contextId", message["contextId"]),
      ...optional("taskId", message["taskId"]),
      ...named("extensions", message),
      ...named("referenceTaskIds", message),
      ...metadata(message),
    };
  }

  #readStatus(json: unknown, taskId: string): TaskStatus {
    const status = members(json);
    const message = status["message"] ?? status["update"];
    return {
      state: readState(status["state"]),
      ...(isObject(message) ? { message: this.#readMessage(message, `${taskId}/status/${text(status["timestamp"])}`) } : {}),
      ...optional("timestamp", status["timestamp"]),
    };
  }

  #readArtifact(json: unknown): Artifact {
    const artifact = members(json);
    const { index } = artifact;
    return {
      artifactId: text(artifact["artifactId"]) || `artifact-${typeof index === "number" ? index : 0}`,
      ...optional("name", artifact["name"]),
      ...optional("description", artifact["description"]),
      parts: list(artifact["parts"]).map((one) => this.#readPart(one)),
      ...named("extensions", artifact),
      ...metadata(artifact),
    };
  }

  #readPart(json: unknown): Part {
    const part = members(json);
    const file = members(part["file"]);
    const more = { ...optional("filename", part["filename"] ?? file["name"]), ...optional("mediaType", part["mediaType"] ?? file["mimeType"]), ...metadata(part) };
    const raw = part["raw"] ?? file["bytes"] ?? file["fileWithBytes"];
    const url = part["url"] ?? file["uri"] ?? file["fileWithUri"];
    if (typeof part["text"] === "string") return { text: part["text"], ...more };
    if (typeof raw === "string") return { raw, ...more };
    if (typeof url === "string") return { url, ...more };
    if ("data" in part) return { data: this.#dataOf(part), ...more };
    // A part of an unknown kind is shown as data.
    return { data: json };
  }

  #dataOf({ data }: Members): unknown {
    return this.#wrapsData && isObject(data) && "data" in data ? data["data"] : data;
  }

  #statusUpdate(event: Members, taskId: string): StreamResponse {
    const id = text(event["taskId"]) || text(event["id"]) || taskId;
    return { statusUpdate: { taskId: id, ...optional("contextId", event["contextId"]), status: this.#readStatus(event["status"], id), ...metadata(event) } };
  }

  #artifactUpdate(event: Members, taskId: string): StreamResponse {
    // 0.1 has `append` and `lastChunk` inside the artifact.
    const artifact = members(event["artifact"]);
    return {
      artifactUpdate: {
        taskId: text(event["taskId"]) || text(event["id"]) || taskId,
        ...optional("contextId", event["contextId"]),
        artifact: this.#readArtifact(artifact),
        append: (event["append"] ?? artifact["append"]) === true,
        lastChunk: (event["lastChunk"] ?? artifact["lastChunk"]) === true,
        ...metadata(event),
      },
    };
  }
}

/** A state from its name in any version, for example `input-required`; `TASK_STATE_UNSPECIFIED` for an unknown name. */
function readState(json: unknown): TaskState {
  const name = text(json).toUpperCase().replaceAll("-", "_").replace(/^TASK_STATE_/, "").replace("CANCELLED", "CANCELED");
  return `TASK_STATE_${STATES.has(name) ? name : "UNSPECIFIED"}` as TaskState;
}

const STATES = new Set(["SUBMITTED", "WORKING", "COMPLETED", "FAILED", "CANCELED", "REJECTED", "INPUT_REQUIRED", "AUTH_REQUIRED"]);

function metadata(of: Members): { metadata?: Metadata } {
  return isObject(of["metadata"]) ? { metadata: of["metadata"] } : {};
}

/** The member with a list of texts; left out if the list is empty. */
function named<Name extends string>(name: Name, of: Members): { [name in Name]?: string[] } {
  const all = texts(of[name]);
  return (all.length === 0 ? {} : { [name]: all }) as { [name in Name]?: string[] };
}
