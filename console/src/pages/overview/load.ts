// Reads the overviews of agents.
import type { CataloguedAgent } from "../../api/agents.ts";
import { json } from "../../api/http.ts";
import { askSeveral, type Asked } from "../../api/several.ts";
import type { Overview } from "./numbers.ts";

/** The result for an agent. With a `problem`, the answer is from an earlier request. */
export type Read = Asked<Overview>;

/**
 * The overviews of these agents over a number of hours, in the order of the agents.
 *
 * The sign-in is not opened: with many agents there would be many dialogs.
 */
export function readAll(agents: readonly CataloguedAgent[], hours: number, signal: AbortSignal): Promise<Read[]> {
  // Only operators may read an overview, so the request always has this header, whatever the state of the switch.
  const headers = { "act-as": "operator" };
  return askSeveral(agents, ({ slug }) => json<Overview>({ agent: slug, path: `/${slug}/overview`, query: { hours }, headers, signal, isQuiet: true }), signal);
}
