// The state of the operator switch: operators act on the tasks of all callers (docs/security.md, "Operators").
import { effect, signal } from "@preact/signals";

const KEY = "a2a-edge.operator";

/** True if requests for lists, timelines, cancels and webhooks contain `Act-As: operator`. */
export const isOperator = signal(sessionStorage.getItem(KEY) === "true");
effect(() => sessionStorage.setItem(KEY, String(isOperator.value)));

/**
 * The value of `Act-As`; undefined for a caller without the operator role. An `owner` restricts lists to the tasks of
 * this owner.
 */
export function actAs(owner?: string): string | undefined {
  if (!isOperator.value) return undefined;
  return owner === undefined || owner === "" ? "operator" : `operator; owner=${encodeURIComponent(owner)}`;
}
