// The names under which a project registers tools and kinds, as crates/agents checks them.

const KINDS = ["tools", "script", "remote", "http", "model"];
const RESERVED = ["run", "rust"];

/** @param {string} name @throws {TypeError} If no tool can have this name. */
export function checkToolName(name) {
  if (/^[a-z][a-z0-9]*(_[a-z0-9]+)*$/.test(name) && name.length <= 64) return;
  throw new TypeError(`tools.${name}: the name of a tool is lower-case words joined by _, such as find_place, up to 64 characters`);
}

/** @param {string} kind @throws {TypeError} If no kind can have this name. */
export function checkKindName(kind) {
  const where = `executors[${JSON.stringify(kind)}]`;
  if (KINDS.includes(kind) || RESERVED.includes(kind)) {
    throw new TypeError(`${where}: this kind belongs to a2a-edge; choose another name, also in the agent file`);
  }
  const meant = KINDS.find((known) => differsByALetter(kind.toLowerCase(), known));
  if (meant !== undefined) {
    const others = KINDS.join(", ");
    throw new TypeError(`${where}: did you mean the built-in kind ${meant}? A name of your own differs by more than a letter from ${others}`);
  }
  if (/^[a-z][a-z0-9_-]{0,63}$/.test(kind)) return;
  throw new TypeError(`${where}: the name of a kind is 1 to 64 lower-case letters, digits, - and _, and begins with a letter`);
}

/**
 * Whether two names differ by one letter that is another, missing, added, or in the wrong order.
 *
 * @param {string} one @param {string} other
 */
function differsByALetter(one, other) {
  let [a, b] = [one, other];
  while (a !== "" && a[0] === b[0]) [a, b] = [a.slice(1), b.slice(1)];
  while (a !== "" && a.at(-1) === b.at(-1)) [a, b] = [a.slice(0, -1), b.slice(0, -1)];
  return (a.length <= 1 && b.length <= 1) || (a.length === 2 && b.length === 2 && a[0] === b[1] && a[1] === b[0]);
}
