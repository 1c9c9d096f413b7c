// The load of a deployment per second for a number of tasks per second, compared with the limits of the platform.

import type { Table } from "../gate/table.ts";
import { digits, grouped } from "../figures.ts";
import { costsOf, deletion, RETENTION_DAYS, STORED_BYTES } from "./kinds.ts";
import { limits } from "./prices.ts";

export const DAY_S = 86_400;

/**
 * How long D1, which runs one statement after the other, is assumed to be busy with one. Cloudflare's own example is a
 * millisecond, which results in a thousand statements per second.
 */
export const STATEMENT_MS = 1;

/** The number of reads of each task, in addition to its send. */
const READS = 1;

const QUICK = "SendMessage, a task of 4 events";

/** How long a job of the queue occupies its consumer. */
export const JOB_S = 0.5;

/** The number of messages in a consumer's batch; see wrangler.toml. */
const BATCH = 6;

/** A load that grows with the number of tasks, with its limit; `undefined` means no limit. */
export interface Load {
  what: string;
  unit: string;
  perTask: number;
  limit: number | undefined;
  /** What to do when the limit is reached. */
  then: string;
}

/** The loads of quick tasks, each with a webhook for the lines about the queue. */
export function loads(table: Table): Load[] {
  const { statements } = costsOf(table, QUICK);
  const end = deletion(table);
  const notified = costsOf(table, "a task of 4 events with a webhook");
  return [
    { what: "requests to the Worker", unit: "per second", perTask: 1 + READS, limit: undefined, then: "" },
    {
      what: "D1: time of the one writer",
      unit: "ms per second",
      perTask: (statements + end.statements) * STATEMENT_MS,
      limit: 1_000,
      then: "the index in objects ([how to move](operating.md#moving-the-index)); listing lags behind meanwhile, tasks go on",
    },
    {
      what: `D1: size with ${RETENTION_DAYS} days of tasks`,
      unit: "GB",
      perTask: (STORED_BYTES.d1 * RETENTION_DAYS * DAY_S) / 1e9,
      limit: limits.d1Bytes / 1e9,
      then: "the index in objects, or a shorter `RETENTION_MS`, or `MAX_FINISHED_TASKS`",
    },
    {
      what: "queue: messages, where each task has a webhook",
      unit: "per second",
      perTask: notified.queueSends + end.queueSends,
      limit: limits.queueMessagesPerSecond,
      then: "several deployments, each with its own queue",
    },
    {
      what: `queue: consumers, where each task has a webhook and a job takes ${JOB_S} s`,
      unit: "at the same time",
      perTask: ((notified.queueMessages + end.queueMessages) * JOB_S) / BATCH,
      limit: limits.consumers,
      then: "notifications are late, and come in order all the same; several deployments",
    },
  ];
}

/** The number of quick tasks per second at which a load reaches its limit. */
export function ceiling({ perTask, limit }: Load): number {
  return limit === undefined || perTask === 0 ? Infinity : limit / perTask;
}

/** The shortest time in which D1 becomes full. */
export function retentionAt(rate: number): string {
  const seconds = limits.d1Bytes / (STORED_BYTES.d1 * rate);
  if (seconds > 2 * DAY_S) return `${grouped(Math.floor(seconds / DAY_S))} days`;
  return seconds > 7_200 ? `${grouped(Math.floor(seconds / 3_600))} hours` : `${grouped(Math.floor(seconds / 60))} minutes`;
}

/** The share of the tasks that the heaviest caller has. */
export const HEAVY = 0.5;

/** The index of a caller with half of all tasks, in objects: how many there are, and what each has to do. */
export function heavyOwner(table: Table, rate: number): { shards: number; perSecond: number; gigabytes: number } {
  const writes = rate * HEAVY * (costsOf(table, QUICK).statements + deletion(table).statements);
  const bytes = rate * HEAVY * STORED_BYTES.d1 * RETENTION_DAYS * DAY_S;
  // As js/index-shard.js counts: shard 0 splits while it takes too many writes, or has too many bytes for each shard that there is.
  let shards = 1;
  while (shards < shardLimits.most && (writes / shards > shardLimits.writesPerSecond || bytes / shards > shardLimits.bytes)) shards *= 2;
  return { shards, perSecond: writes / shards, gigabytes: bytes / shards / 1e9 };
}

/** The defaults of INDEX_SHARD_WRITES and INDEX_SHARD_BYTES, and the largest number of shards (js/index-shard.js). */
const shardLimits = { writesPerSecond: 200, bytes: 4 * 1024 ** 3, most: 64 };

/** The load at a rate, as text; bold above the limit. */
export function used(load: Load, rate: number): string {
  const value = digits(load.perTask * rate);
  return rate > ceiling(load) ? `**${value}**` : value;
}

