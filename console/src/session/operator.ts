// Whether the person acts as an operator: on the tasks of all callers (docs/security.md, "Operators").
import { effect, signal } from "@preact/signals";

const KEY = "a2a-edge.operator";

/** Whether requests for lists, timelines, cancels and webhooks carry `Act-As: operator`. */
export const isOperator = signal(sessionStorage.getItem(KEY) === "true");
effect(() => sessionStorage.setItem(KEY, String(isOperator.value)));

/** The value of `Act-As`, undefined for a caller who acts for itself. An `owner` narrows lists to the tasks of one. */
export function actAs(owner?: string): string | undefined {
  if (!isOperator.value) return undefined;
  return owner === undefined || owner === "" ? "operator" : `operator; owner=${encodeURIComponent(owner)}`;
}
