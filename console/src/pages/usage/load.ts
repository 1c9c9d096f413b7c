// Reads the usage of an agent, by the route of docs/usage.md.
import { json } from "../../api/http.ts";
import { actAs } from "../../session/operator.ts";
import type { Used } from "./sums.ts";

/** The usage of an agent over some days. */
export interface Usage {
  /** The first and the last day. */
  from: string;
  to: string;
  used: Used[];
  /** The limits by day of each caller of the agent, if there are any. */
  limits?: Limits;
  /** True if there is more than was read. */
  isAtLeast: boolean;
}

/** What each caller may use of an agent in a day (UTC). */
export interface Limits {
  tokensPerDay?: number;
  costMicrosPerDay?: number;
}

/** The answer of `GET /<agent>/usage`. */
interface Page {
  from: string;
  to: string;
  days: Omit<Used, "agent">[];
  limits?: Limits;
  isAtLeast: boolean;
  /** Present if there are earlier days: the first day of this answer. */
  before?: string;
}

/** The largest number of answers that are read for one agent, each with up to 10,000 rows. */
const MOST_PAGES = 10;

/** The usage over a number of days up to today: the caller's own, or that of all callers for operators. */
export async function readUsage(agent: string, days: number, signal: AbortSignal, isQuiet: boolean): Promise<Usage> {
  const ask = (before?: string) => json<Page>({ agent, path: `/${agent}/usage`, query: { days, before }, headers: { "act-as": actAs() }, signal, isQuiet });
  const first = await ask();
  const pages = [first];
  for (let next = first.before; next !== undefined && pages.length < MOST_PAGES; next = pages.at(-1)?.before) pages.push(await ask(next));
  return {
    from: first.from,
    to: first.to,
    ...(first.limits === undefined ? {} : { limits: first.limits }),
    used: pages.flatMap((page) => page.days.map((used) => ({ ...used, agent }))),
    isAtLeast: pages.some((page) => page.isAtLeast) || pages.at(-1)?.before !== undefined,
  };
}
