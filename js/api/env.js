// The bindings of the project, without those of the engine.
import { OWN_NAMES } from "./own-names.js";

const own = new Set(OWN_NAMES);

/** Whether a binding, variable or secret is the engine's. @param {string} name */
export const isOwnName = (name) => own.has(name);

/**
 * A copy of the Worker's environment without what belongs to the engine.
 *
 * @param {object} env @returns {any}
 */
export function envOf(env) {
  const entries = Object.entries(env).filter(([name]) => !own.has(name));
  return Object.freeze(Object.fromEntries(entries));
}
