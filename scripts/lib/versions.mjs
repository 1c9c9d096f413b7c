// Versions such as "1.95.0". The check of Node's version needs this file, so it has the syntax of Node 16.

/** True if `version` is at least `least`, which may have fewer numbers. */
export function atLeast(version, least) {
  const [own, wanted] = [version, least].map((text) => text.split(".").map(Number));
  const at = wanted.findIndex((number, index) => number !== (own[index] ?? 0));
  return at === -1 || (own[at] ?? 0) > wanted[at];
}
