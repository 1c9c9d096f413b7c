// How agents have last answered this tab: a cookie or a certificate of the browser may be known to them, and a secret for all agents may not be.
import { effect, signal } from "@preact/signals";
import { keptSchemes } from "./credentials.ts";

/** True for agents that have let the person in, false for those that have refused the credentials. */
const answers = signal<ReadonlyMap<string, boolean>>(new Map());

// With other credentials, a refusal does not count any more.
effect(() => {
  keptSchemes();
  answers.value = new Map([...answers.peek()].filter(([, isLetIn]) => isLetIn));
});

/** Notes how an agent has answered a request. Cards and the console's own paths are answered to everybody. */
export function noteAnswer(agent: string, path: string, status: number): void {
  if (agent === "" || path.startsWith("/console/") || path.includes("/.well-known/")) return;
  const isLetIn = status < 300 ? true : status === 401 ? false : undefined;
  if (isLetIn !== undefined && answers.peek().get(agent) !== isLetIn) answers.value = new Map(answers.peek()).set(agent, isLetIn);
}

/** True if the agent has let the person in, false if it has refused; undefined if that is not known. */
export function isAdmitted(agent: string): boolean | undefined {
  return answers.value.get(agent);
}
