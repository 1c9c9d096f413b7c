// Folds the events of a task into its story: the task, and its messages and artifacts in the order of their events. Pure.
//
// Events may arrive twice, after a reconnect, or again from the beginning. If their ids are the generations of the task
// (docs/generation.md), an event that is not newer than the newest known one changes nothing; otherwise a snapshot restores what was lost
// between two connections.
import type { Artifact, ArtifactUpdate, Message, Part, StatusUpdate, StreamResponse, Task, TaskState } from "./types.ts";

/** An entry of the conversation. `key` stays the same while the entry changes. */
export type Entry =
  | { kind: "message"; key: string; message: Message; /** The state that the message came with. */ state: TaskState | undefined; at: string | undefined }
  | { kind: "state"; key: string; state: TaskState; at: string | undefined }
  | { kind: "artifact"; key: string; artifact: Artifact; /** Whether more chunks may come. */ isLive: boolean; /** How many whole ones it took the place of. */ replaced: number };

/** The known part of a task. */
export interface Story {
  /** Without history and artifacts, which are in `entries`. */
  task: Task | undefined;
  /** The id of the newest event: a stream resumes after it. */
  newest: string;
  entries: readonly Entry[];
}

/** The story of an unknown task. */
export const UNKNOWN: Story = { task: undefined, newest: "", entries: [] };

/** The meaning of event ids: `generations` grow by one with each event of the task, `marks` only identify a position. */
export type Ids = "generations" | "marks";

/** The story after an event. */
export function fold(story: Story, { id, response }: { id: string; response: StreamResponse }, ids: Ids): Story {
  const { task, statusUpdate, artifactUpdate } = response;
  const isKnown = id !== "" && (id === story.newest || (ids === "generations" && Number(id) < Number(story.newest)));
  if (task !== undefined) return isKnown ? withMessages(story, task.history ?? []) : { ...folded(story, task), newest: id === "" ? story.newest : id };
  if (isKnown) return story;
  const newest = id === "" ? story.newest : id;
  if (statusUpdate !== undefined) return { ...withStatus(story, statusUpdate), newest };
  if (artifactUpdate !== undefined) return { ...withArtifact(story, artifactUpdate), newest };
  return story;
}

/** True if events between the newest known one and this one are missing. */
export function isGap(story: Story, { id, response }: { id: string; response: StreamResponse }, ids: Ids): boolean {
  return ids === "generations" && id !== "" && response.task === undefined && Number(id) > Number(story.newest === "" ? 0 : story.newest) + 1;
}

/** The story with a message of this page at its end, until the task's history contains the message. */
export function withOwn(story: Story, message: Message): Story {
  return has(story.entries, message.messageId) ? story : { ...story, entries: [...story.entries, entryOf(message, undefined, undefined)] };
}

/** The story without a message of this page that was refused. */
export function withoutOwn(story: Story, messageId: string): Story {
  return { ...story, entries: story.entries.filter((entry) => entry.kind !== "message" || entry.message.messageId !== messageId) };
}

/** The story with the missing messages of a history, each after its predecessor in the history. */
export function withMessages(story: Story, history: readonly Message[]): Story {
  const known = new Map(story.entries.flatMap((entry, at) => (entry.kind === "message" ? [[entry.message.messageId, at] as const] : [])));
  if (history.every(({ messageId }) => known.has(messageId))) return story;
  const behind = new Map<number, Entry[]>();
  let last = -1;
  for (const message of history) {
    const at = known.get(message.messageId);
    if (at !== undefined) {
      last = at;
      continue;
    }
    behind.set(last, [...(behind.get(last) ?? []), entryOf(message, undefined, undefined)]);
  }
  const entries = [...(behind.get(-1) ?? []), ...story.entries.flatMap((entry, at) => [entry, ...(behind.get(at) ?? [])])];
  return { ...story, entries };
}

function folded(story: Story, task: Task): Story {
  const { history = [], artifacts = [], ...rest } = task;
  let next = withMessages(story, history);
  const isWorking = /_(SUBMITTED|WORKING)$/.test(task.status.state);
  const given = new Map(artifacts.map((artifact) => [artifact.artifactId, artifact]));
  const entries = next.entries.map((entry): Entry => {
    const found = entry.kind === "artifact" ? given.get(entry.artifact.artifactId) : undefined;
    if (entry.kind !== "artifact" || found === undefined) return entry;
    given.delete(found.artifactId);
    return { ...entry, artifact: whole(found), isLive: entry.isLive && isWorking };
  });
  const added = [...given.values()].map((artifact): Entry => ({ kind: "artifact", key: `a:${artifact.artifactId}`, artifact: whole(artifact), isLive: false, replaced: 0 }));
  next = { ...next, entries: added.length === 0 ? entries : [...entries, ...added] };
  return withStatus(next, { taskId: task.id, status: task.status, ...(task.contextId === undefined ? {} : { contextId: task.contextId }) }, rest);
}

function withStatus(story: Story, { taskId, contextId, status, metadata }: StatusUpdate, known: Task | undefined = story.task): Story {
  const before = story.task?.status;
  const task: Task = { ...known, id: known?.id ?? taskId, status };
  if (task.contextId === undefined && contextId !== undefined) task.contextId = contextId;
  if (metadata !== undefined) task.metadata = { ...task.metadata, ...metadata };
  const entries = /_WORKING$/.test(status.state) ? [...story.entries] : story.entries.map(settled);
  if (status.message !== undefined && !has(entries, status.message.messageId)) entries.push(entryOf(status.message, status.state, status.timestamp));
  else if (status.message === undefined && before?.state !== status.state) {
    entries.push({ kind: "state", key: `s:${entries.length}:${status.state}`, state: status.state, at: status.timestamp });
  } else if (status.message !== undefined) {
    const { messageId } = status.message;
    const at = entries.findIndex((entry) => entry.kind === "message" && entry.message.messageId === messageId);
    const found = entries[at];
    if (found?.kind === "message" && found.state === undefined) entries[at] = { ...found, state: status.state, at: status.timestamp };
  }
  return { ...story, task, entries };
}

function withArtifact(story: Story, { taskId, contextId, artifact, append = false, lastChunk = false }: ArtifactUpdate): Story {
  const at = story.entries.findIndex((entry) => entry.kind === "artifact" && entry.artifact.artifactId === artifact.artifactId);
  const entries = [...story.entries];
  const found = entries[at];
  const isLive = !lastChunk;
  // A chunk for an unknown artifact begins the artifact, even with `append`.
  if (found?.kind !== "artifact") entries.push({ kind: "artifact", key: `a:${artifact.artifactId}`, artifact: whole(artifact), isLive, replaced: 0 });
  else if (append) entries[at] = { ...found, artifact: appended(found.artifact, artifact), isLive };
  else entries[at] = { ...found, artifact: whole(artifact), isLive, replaced: found.replaced + 1 };
  const task = story.task ?? { id: taskId, status: { state: "TASK_STATE_WORKING" }, ...(contextId === undefined ? {} : { contextId }) };
  return { ...story, task, entries };
}

function appended(before: Artifact, chunk: Artifact): Artifact {
  const merged: Artifact = { ...before, parts: chunk.parts.reduce(joinedWith, before.parts) };
  if (chunk.name !== undefined) merged.name = chunk.name;
  if (chunk.description !== undefined) merged.description = chunk.description;
  if (chunk.metadata !== undefined) merged.metadata = { ...before.metadata, ...chunk.metadata };
  return merged;
}

function whole(artifact: Artifact): Artifact {
  return { ...artifact, parts: joinedTexts(artifact.parts) };
}

/** Joins consecutive text parts: chunks may be cut anywhere. The parts may be missing. */
export function joinedTexts(parts: readonly Part[] | undefined): Part[] {
  return (parts ?? []).reduce(joinedWith, []);
}

function joinedWith(parts: Part[], part: Part): Part[] {
  const last = parts.at(-1);
  if (last?.text === undefined || part.text === undefined || last.metadata !== undefined || part.metadata !== undefined) return [...parts, part];
  const isSameKind = last.mediaType === part.mediaType && last.filename === part.filename;
  return isSameKind ? [...parts.slice(0, -1), { ...last, text: last.text + part.text }] : [...parts, part];
}

function settled(entry: Entry): Entry {
  return entry.kind === "artifact" && entry.isLive ? { ...entry, isLive: false } : entry;
}

function entryOf(message: Message, state: TaskState | undefined, at: string | undefined): Entry {
  return { kind: "message", key: `m:${message.messageId}`, message, state, at };
}

function has(entries: readonly Entry[], messageId: string): boolean {
  return entries.some((entry) => entry.kind === "message" && entry.message.messageId === messageId);
}
