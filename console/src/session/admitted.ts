// The agents that have answered this tab, and those that have refused it since: a cookie or a certificate of the browser may be known to them.
import { signal } from "@preact/signals";

const answers = signal<ReadonlyMap<string, boolean>>(new Map());

/** Notes how an agent has answered a request. Cards and the console's own paths are answered to everybody. */
export function noteAnswer(agent: string, path: string, status: number): void {
  if (agent === "" || path.startsWith("/console/") || path.includes("/.well-known/")) return;
  const isLetIn = status < 300 ? true : status === 401 ? false : undefined;
  if (isLetIn !== undefined && answers.peek().get(agent) !== isLetIn) answers.value = new Map(answers.peek()).set(agent, isLetIn);
}

/** True if the last answer of the agent has let the person in. */
export function isAdmitted(agent: string): boolean {
  return answers.value.get(agent) === true;
}
