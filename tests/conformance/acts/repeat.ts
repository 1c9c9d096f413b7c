// Steps that are repeated until a condition holds (ACTS §9).
import { isDeepStrictEqual } from "node:util";
import { valueAt } from "./assertions.ts";
import type { Repeat } from "./document.ts";

/** Whether a condition such as `status.state in [A, B]` holds for a response (ACTS §9.1). Throws if it is none. */
export function holds(condition: string, response: unknown): boolean {
  const [, path = "", verb, said = ""] = /^\s*(\S+)\s+(==|!=|in)\s+(.+?)\s*$/.exec(condition) ?? [];
  if (verb === undefined) throw new Error(`${JSON.stringify(condition)} is no condition`);
  const value = valueAt(response, path);
  if (verb !== "in") return isDeepStrictEqual(value, literal(said)) === (verb === "==");
  const list = /^\[(.*)\]$/.exec(said)?.[1];
  if (list === undefined) throw new Error(`${JSON.stringify(condition)} names no list`);
  return list.split(",").some((one) => isDeepStrictEqual(value, literal(one.trim())));
}

/** The pause before the next attempt, counted from 1, in milliseconds. */
export function pauseMs({ delay_ms: delay = 1_000, backoff = "none" }: Repeat, attempt: number): number {
  return { none: delay, linear: delay * attempt, exponential: delay * 2 ** (attempt - 1) }[backoff];
}

/** How often a step is tried. */
export const attemptsOf = ({ max_attempts: most = 10 }: Repeat): number => most;

function literal(text: string): unknown {
  const bare = /^(?:"(.*)"|'(.*)')$/.exec(text);
  if (bare !== null) return bare[1] ?? bare[2];
  return /^(-?\d+(\.\d+)?|true|false|null)$/.test(text) ? (JSON.parse(text) as unknown) : text;
}
