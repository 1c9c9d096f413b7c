// The order of the functions in a module. gzip finds repeated bytes within the last 32 KB, so functions with much in common are put beside each other:
// instances of the same generic function, drops of similar types, futures of similar shape. The code itself stays the same.
import { functionBodies, functionNames, withFunctionNames } from "./wasm.mjs";

/** How much of what was placed before counts, in bytes: what gzip still sees. */
const WINDOW = 30_000;

/** Bytes in a row that count as common to two functions. */
const RUN = 6;

/** Runs in more functions than this tell nothing: they are found everywhere. */
const MOST_HOLDERS = 30;

/** The indices of bodies such that each follows those with which it has most in common for its length. */
export function bySimilarity(bodies) {
  const runs = bodies.map(runsOf);
  const holders = holdersOf(runs);
  const common = new Float64Array(bodies.length);
  const count = (index, sign) => {
    for (const run of runs[index]) {
      const others = holders.get(run) ?? [];
      const weight = sign / (32 - Math.clz32(others.length));
      for (const other of others) common[other] += weight;
    }
  };
  // A longer function has more in common with any other: its count is divided by its length to the power of 3/4. Roots are the same on all machines.
  const share = bodies.map(({ length }) => Math.sqrt(length + 60) * Math.sqrt(Math.sqrt(length + 60)));
  const left = new Set(bodies.keys());
  const order = [];
  let first = 0;
  let inWindow = 0;
  const choose = () => mostLike(left, common, share);
  for (let next = choose(); next !== undefined; next = choose()) {
    left.delete(next);
    order.push(next);
    count(next, 1);
    inWindow += bodies[next].length;
    for (; inWindow > WINDOW && first < order.length - 1; first++) {
      inWindow -= bodies[order[first]].length;
      count(order[first], -1);
    }
  }
  return order;
}

/** The one of `left` with most in common; the first of them if none has anything. */
function mostLike(left, common, share) {
  let found;
  let most = -1;
  for (const index of left) {
    const likeness = common[index] < 1e-6 ? 0 : common[index] / share[index];
    if (likeness > most) [found, most] = [index, likeness];
  }
  return found;
}

/** Hashes of all runs of bytes in a body, each once. */
function runsOf(body) {
  const runs = new Set();
  for (let end = RUN; end <= body.length; end++) {
    let hash = 0x811c9dc5;
    for (let at = end - RUN; at < end; at++) hash = Math.imul(hash ^ body[at], 0x01000193);
    runs.add(hash);
  }
  return runs;
}

/** The bodies that have a run, for each run that tells something. */
function holdersOf(runs) {
  const holders = new Map();
  for (const [index, own] of runs.entries()) {
    for (const run of own) {
      const others = holders.get(run);
      if (others === undefined) holders.set(run, [index]);
      else others.push(index);
    }
  }
  for (const [run, { length }] of holders) if (length === 1 || length > MOST_HOLDERS) holders.delete(run);
  return holders;
}

/** The module with names that begin with the place of each function, by which wasm-opt sorts functions. */
export function namedByPlace(module) {
  const functions = [...functionBodies(module)];
  const { section, names } = functionNames(module);
  const order = bySimilarity(functions.map(({ body }) => body));
  const placed = order.map((at, place) => [functions[at].index, `${String(place).padStart(6, "0")} ${names.get(functions[at].index)}`]);
  return withFunctionNames(module, { section, names: new Map([...names, ...placed]) });
}

/** The lines of a map of symbols, `N:NAME`, without the places. */
export const withoutPlaces = (symbols) => symbols.replace(/^(\d+):\d{6}(?: |\\20)/gm, "$1:");
