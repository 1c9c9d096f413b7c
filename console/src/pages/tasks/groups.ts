// Groups the entries of a timeline: by the runs of the agent, with chunks of an artifact joined, and attempts to call webhooks separated.
import type { ArtifactEntry, AttemptEntry, Entry, RunEntry } from "../../api/timeline.ts";

/** Consecutive chunks of one artifact. */
export interface Chunks {
  kind: "chunks";
  /** The first chunk, with the name of the artifact if an earlier chunk had one. */
  first: ArtifactEntry;
  last: ArtifactEntry;
  count: number;
  bytes: number;
  /** The beginnings of the artifact's texts, joined. */
  text: string;
  isCut: boolean;
}

export type Item = Exclude<Entry, RunEntry | ArtifactEntry | AttemptEntry> | Chunks;

/** A run, and its entries up to the next run. */
export interface Group {
  /** Identifies the group while entries are added at either end. */
  key: string;
  /** Undefined for entries before the first loaded run. */
  run: RunEntry | undefined;
  items: Item[];
  /** The attempts to call webhooks during the run, which do not belong to its work. */
  attempts: AttemptEntry[];
  /** The duration of the run, if known. */
  durationMs: number | undefined;
  /** The duration of the run's longest step. */
  longestMs: number;
}

/** The number of characters shown of a text in chunks. */
const MAX_TEXT = 4000;

export function groupsOf(entries: readonly Entry[]): Group[] {
  const groups: Group[] = [];
  const begin = (run: RunEntry | undefined): Group => {
    const key = run === undefined ? "beginning" : `${run.message}.${run.begunAt}.${run.attempt}.${run.at}`;
    const group: Group = { key, run, items: [], attempts: [], durationMs: undefined, longestMs: 0 };
    groups.push(group);
    return group;
  };
  let group: Group | undefined;
  for (const entry of entries) {
    if (entry.kind === "run") {
      group = begin(entry);
      continue;
    }
    group ??= begin(undefined);
    if (entry.kind === "webhookAttempt") {
      group.attempts.push(entry);
      continue;
    }
    if (entry.kind === "artifact") {
      const before = group.items.at(-1);
      if (before?.kind === "chunks" && entry.append && before.first.artifactId === entry.artifactId) add(before, entry);
      else group.items.push(chunksOf(entry));
      continue;
    }
    if (entry.kind === "step") group.longestMs = Math.max(group.longestMs, entry.durationMs ?? 0);
    group.items.push(entry);
  }
  for (const one of groups) one.durationMs = durationOf(one);
  return groups;
}

function chunksOf(entry: ArtifactEntry): Chunks {
  const chunks: Chunks = { kind: "chunks", first: entry, last: entry, count: 0, bytes: 0, text: "", isCut: false };
  add(chunks, entry);
  return chunks;
}

function add(chunks: Chunks, entry: ArtifactEntry): void {
  chunks.last = entry;
  chunks.count += 1;
  if (entry.moreParts !== undefined) chunks.isCut = true;
  for (const part of entry.parts) {
    chunks.bytes += part.bytes;
    if (part.text !== undefined && !chunks.isCut) chunks.text += part.text;
    if (part.isCut === true || chunks.text.length > MAX_TEXT) chunks.isCut = true;
  }
  chunks.text = chunks.text.slice(0, MAX_TEXT);
}

/** The time from the beginning of a run to its last entry. */
function durationOf({ run, items }: Group): number | undefined {
  if (run === undefined) return undefined;
  const own = items.filter((item) => item.kind !== "message");
  const times = own.map((item) => (item.kind === "chunks" ? item.last.at : item.at));
  return times.length === 0 ? undefined : Math.max(...times) - run.at;
}

/** From this number on, consecutive similar entries are shown as one line. */
const MIN_ALIKE = 3;

/** The entries that can be shown as one line. */
export type Line = Item | AttemptEntry;

/** Groups consecutive lines with the same words. */
export function alike<One extends Line>(lines: readonly One[]): One[][] {
  const runs: One[][] = [];
  let words = "";
  for (const line of lines) {
    const before = words;
    words = wordsOf(line);
    if (words === before) runs.at(-1)?.push(line);
    else runs.push([line]);
  }
  return runs.flatMap((run) => (run.length < MIN_ALIKE ? run.map((line) => [line]) : [run]));
}

/** The words of a line, without its time, its numbers and the result of a step. */
function wordsOf(line: Line): string {
  switch (line.kind) {
    case "task":
    case "status":
      return JSON.stringify([line.kind, line.state, line.message?.parts]);
    case "message":
      return JSON.stringify([line.kind, line.message.parts]);
    case "chunks":
      return JSON.stringify([line.kind, line.first.name ?? line.first.artifactId, line.text]);
    case "step":
      return JSON.stringify([line.kind, line.type, line.tool ?? line.agent ?? line.name, line.calls, line.failed, line.error]);
    case "webhookAttempt":
      return JSON.stringify([line.kind, line.origin, line.outcome, line.status, line.error]);
    default:
      return JSON.stringify([line.kind, "by" in line && line.by, "name" in line && line.name]);
  }
}

const keys = new WeakMap<object, number>();
let count = 0;

/** Identifies a line, even after lines were added before it. */
export function keyOf(line: Line): number {
  const entry = line.kind === "chunks" ? line.first : line;
  const key = keys.get(entry) ?? ++count;
  keys.set(entry, key);
  return key;
}

/** A number of bytes in readable form. */
export function bytesText(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  if (bytes < 1_000_000) return `${(bytes / 1000).toFixed(1)} KB`;
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}
