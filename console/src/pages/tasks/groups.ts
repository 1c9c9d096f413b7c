// Entries as people look at them: by the runs of the agent, and chunks of an artifact as one.
import type { ArtifactEntry, Entry, RunEntry } from "./entry.ts";

/** The chunks of one artifact that follow each other. */
export interface Chunks {
  kind: "chunks";
  /** Each with the name that an earlier chunk has said. */
  first: ArtifactEntry;
  last: ArtifactEntry;
  count: number;
  bytes: number;
  /** The beginnings of its texts, one behind the other. */
  text: string;
  isCut: boolean;
}

export type Item = Exclude<Entry, RunEntry | ArtifactEntry> | Chunks;

/** A run, and what is behind it until the next one. */
export interface Group {
  /** Tells groups apart while entries are added at either end. */
  key: string;
  /** None for what came before the first run that was read. */
  run: RunEntry | undefined;
  items: Item[];
  /** How long it took, as far as it is known. */
  durationMs: number | undefined;
  /** The longest step in it. */
  longestMs: number;
}

/** How much of a text that comes in chunks is shown, in letters. */
const MAX_TEXT = 4000;

export function groupsOf(entries: readonly Entry[]): Group[] {
  const groups: Group[] = [];
  const begin = (run: RunEntry | undefined): Group => {
    const key = run === undefined ? "beginning" : `${run.message}.${run.begunAt}.${run.attempt}.${run.at}`;
    const group: Group = { key, run, items: [], durationMs: undefined, longestMs: 0 };
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

/** From the beginning of a run to the last thing that it did. Attempts at webhooks are none of its work. */
function durationOf({ run, items }: Group): number | undefined {
  if (run?.at === undefined || run.at === null) return undefined;
  const own = items.filter((item) => item.kind !== "webhookAttempt" && item.kind !== "message");
  const times = own.map((item) => (item.kind === "chunks" ? item.last.at : item.at)).filter((at) => at !== null);
  return times.length === 0 ? undefined : Math.max(...times) - run.at;
}

/** A number of bytes as people read it. */
export function bytesText(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  if (bytes < 1_000_000) return `${(bytes / 1000).toFixed(1)} KB`;
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}
