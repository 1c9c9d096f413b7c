// Variables (ACTS §8, §12.2): `{{…}}` in the texts of a test.
import { randomUUID } from "node:crypto";
import { valueAt } from "./assertions.ts";
import { isMap } from "./document.ts";

/** What a test may name. */
export interface Scope {
  /** What steps have captured, and their responses as `response`, by the ids of the steps. */
  steps: Map<string, Record<string, unknown>>;
  /** What only the runner knows, such as the URL of its receiver: it stands for what the document says of the same name. */
  given: Record<string, string>;
  /** Those of the document. */
  variables: Record<string, string>;
}

/** A variable that nothing defines. */
export class Unresolved extends Error {}

/** The same value with all variables in its texts replaced. A text that is one variable becomes its value, whatever that is. */
export function resolve(value: unknown, scope: Scope): unknown {
  if (typeof value === "string") return resolveText(value, scope);
  if (Array.isArray(value)) return value.map((element) => resolve(element, scope));
  if (!isMap(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, resolve(member, scope)]));
}

function resolveText(text: string, scope: Scope): unknown {
  const whole = /^\{\{([^{}]+)\}\}$/.exec(text);
  if (whole?.[1] !== undefined) return lookUp(whole[1].trim(), scope);
  return text.replace(/\{\{([^{}]+)\}\}/g, (_, name: string) => String(lookUp(name.trim(), scope)));
}

function lookUp(name: string, scope: Scope): unknown {
  const [first = "", ...rest] = name.split(".");
  const step = scope.steps.get(first);
  if (step !== undefined && rest.length > 0) {
    const value = valueAt(step, rest.join("."));
    if (value !== undefined) return value;
  }
  const own = scope.given[name] ?? scope.variables[name];
  if (own !== undefined) return resolve(own, scope);
  if (first === "env" && process.env[rest.join(".")] !== undefined) return process.env[rest.join(".")];
  if (name === "$uuid") return randomUUID();
  throw new Unresolved(`nothing defines {{${name}}}`);
}
