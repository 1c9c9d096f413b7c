// The failures of several agents: one box for all agents with the same problem, and one box for agents that require credentials.
import { Problem } from "../api/problem.ts";
import { askToSignIn } from "../session/asking.ts";
import { Icon } from "./icon.tsx";
import { ProblemBox } from "./problem.tsx";

/** An agent that did not answer. The slug is empty if the problem concerns no particular agent. */
export interface Failed {
  agent: string;
  problem: unknown;
}

/** `what` names the requested data, `of` is the number of called agents. */
export function Failures({ what, failed, of: asked, retry }: { what: string; failed: readonly Failed[]; of: number; retry: () => void }) {
  const closed = asked > 1 ? failed.filter(({ problem }) => problem instanceof Problem && problem.status === 401) : [];
  const alike = new Map<string, Failed[]>();
  for (const one of failed.filter((one) => !closed.includes(one))) alike.set(String(one.problem), [...(alike.get(String(one.problem)) ?? []), one]);
  return (
    <>
      {[...alike].map(([key, those]) => (
        <ProblemBox key={key} problem={those[0]?.problem} agents={asked > 1 && those.length < asked ? those.map(({ agent }) => agent) : []} retry={retry} />
      ))}
      {closed.length > 0 && (
        <div class="row closed card">
          <Icon name="key" />
          <span>
            {closed.length === 1 ? `One agent shows ${what} to callers that it knows` : `${closed.length} agents show ${what} to callers that they know`}: {closed.map(({ agent }) => agent).join(", ")}.
          </span>
          <button type="button" class="small" onClick={() => void askToSignIn(closed[0]!.agent).then((isDone) => isDone && retry())}>
            Sign in
          </button>
        </div>
      )}
    </>
  );
}
