// The kinds of executors that a soak knows: what `npm run soak -- --kinds` takes, and tests/soak/ has tasks of.

/** All of them. */
export const KINDS = ["scripts", "tools", "model", "coordinator", "http", "callback", "remote", "mcp"];

/** Those of a soak that is not told which. */
export const USUAL_KINDS = ["scripts", "model", "http", "remote"];

/** The kinds in a list with commas, or all of them; `undefined` if it names another one. */
export function kindsIn(list) {
  if (list === "all") return [...KINDS];
  const named = [...new Set(list.split(",").map((name) => name.trim()))];
  return named.every((name) => KINDS.includes(name)) ? named : undefined;
}
