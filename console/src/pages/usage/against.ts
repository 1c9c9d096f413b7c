// What callers have used today against the limits by day (docs/usage.md). Pure.
import type { Usage } from "./load.ts";
import { tokens, total } from "./sums.ts";

/** What a caller has used today of what a limit allows. */
export interface Against {
  agent: string;
  /** Absent if the usage is the person's own. */
  owner?: string;
  of: "tokens" | "cost";
  used: number;
  limit: number;
}

/** The used part of a limit; a limit of 0 is used up. */
export const partOf = ({ used, limit }: Against): number => (limit === 0 ? 1 : used / limit);

/**
 * What was used today of each limit, the nearest to its limit first. For all callers those that have used something today; for the person itself all
 * limits, with or without use.
 */
export function againstLimits(answers: readonly (Usage & { agent: string })[], isOfAll: boolean): Against[] {
  const all = answers.flatMap(({ agent, to, used, limits }) => {
    const today = used.filter(({ day }) => day === to);
    const callers = isOfAll ? today.map((one) => ({ owner: one.owner ?? "", used: one })) : [{ used: total(today) }];
    return callers.flatMap(({ used, ...whose }): Against[] => [
      ...(limits?.tokensPerDay === undefined ? [] : [{ agent, ...whose, of: "tokens" as const, used: tokens(used), limit: limits.tokensPerDay }]),
      ...(limits?.costMicrosPerDay === undefined ? [] : [{ agent, ...whose, of: "cost" as const, used: used.costMicros, limit: limits.costMicrosPerDay }]),
    ]);
  });
  return all.sort((one, other) => partOf(other) - partOf(one));
}
