// The address of two tasks side by side: `#/compare?a=demo/4f…&b=other/77…`.
import { href } from "../../route.ts";
import type { TaskOf } from "../../api/timeline.ts";

/** The address of a comparison; without a second task, the page offers some. */
export function compareAddress(one: Pick<TaskOf, "agent" | "id">, other?: Pick<TaskOf, "agent" | "id">): string {
  return href(["compare"], { a: nameOf(one), b: other === undefined ? undefined : nameOf(other) });
}

/** The task with this name in an address; undefined if it names none. The ids of some tasks contain slashes. */
export function taskNamed(name: string | null): TaskOf | undefined {
  const [, agent, id] = /^([^/]+)\/(.+)$/s.exec(name ?? "") ?? [];
  return agent === undefined || id === undefined ? undefined : { agent, id };
}

const nameOf = ({ agent, id }: Pick<TaskOf, "agent" | "id">): string => `${agent}/${id}`;
