// The kinds of executors for a soak: the values for `npm run soak -- --kinds`; tests/soak/ has tasks for each.

/** All kinds. */
export const KINDS = ["scripts", "tools", "model", "coordinator", "http", "callback", "remote", "mcp", "functions"];

/** The kinds of a soak without the option. */
export const USUAL_KINDS = ["scripts", "model", "http", "remote", "functions"];

/** The kinds in a comma-separated list, or all of them; `undefined` if the list contains an unknown kind. */
export function kindsIn(list) {
  if (list === "all") return [...KINDS];
  const named = [...new Set(list.split(",").map((name) => name.trim()))];
  return named.every((name) => KINDS.includes(name)) ? named : undefined;
}
