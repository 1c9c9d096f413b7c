// The list of secrets: which are set, how old they are, and what is due.
import { Table } from "../table.mjs";
import { jsonLine } from "../text.mjs";
import { text } from "../values.mjs";
import { rfc3339 } from "../words.mjs";
import { holdsTwo, keysIn, madeAt } from "./values.mjs";

const DAY_MS = 86_400_000;

/**
 * What is known of each entry: `set` (null if wrangler cannot tell), `madeAt` in ms since 1970 (undefined if nothing tells) and else `setBefore`, the instant
 * since which no secret was changed, `second` (the name, or "in the value"), `isDouble` (whether the old one is still accepted beside the new one), and `due`.
 */
export async function factsOfKeys(entries, place, { published, maxAgeDays, now = Date.now() }) {
  const { names, secrets = new Set(), isWhole } = await place.names();
  const unchangedSince = secrets.size > 0 ? await place.unchangedSince() : undefined;
  return entries.filter(({ name, isFormer = false }) => !isFormer || names.has(name)).map((entry) => {
    const { name, kind, second } = entry;
    const set = names.has(name) ? true : isWhole ? false : null;
    const kids = kind === "signing" && set !== false ? kidsOf(entry, place, published) : undefined;
    const isDouble = second === undefined ? isDoubleValue(entry, place, kids) : set === true && names.has(second);
    const made = madeAt(kids?.[0]);
    const setBefore = made === undefined && secrets.has(name) ? unchangedSince : undefined;
    const facts = { ...entry, set, madeAt: made, setBefore, isDouble, second: second ?? (holdsTwo(kind) ? "in the value" : undefined) };
    return { ...facts, due: dueOf(facts, names, maxAgeDays, now) };
  });
}

/** The names of the signing keys, of the value where it can be read, else as they are published. */
function kidsOf(entry, place, published) {
  const value = place.value?.(entry.name);
  const keys = value === undefined ? published : keysOrNone(entry, value)?.map((key) => JSON.parse(key));
  return keys?.map(({ kid }) => text(kid));
}

function isDoubleValue(entry, place, kids) {
  if (kids !== undefined) return kids.length > 1;
  const value = holdsTwo(entry.kind) ? place.value?.(entry.name) : undefined;
  return value !== undefined && (keysOrNone(entry, value)?.length ?? 0) > 1;
}

/** The keys in a value; undefined if it is none, which the Worker tells in its log. */
function keysOrNone(entry, value) {
  try {
    return keysIn(entry, value);
  } catch {
    return undefined;
  }
}

function dueOf({ name, set, second, isDouble, isOptional, madeAt: made, setBefore }, names, maxAgeDays, now) {
  if (set === false) return isOptional || names.has(second) ? undefined : "set it";
  if (isDouble) return "take the old one away";
  const at = made ?? setBefore;
  return at !== undefined && now - at > maxAgeDays * DAY_MS ? `rotate ${name}` : undefined;
}

/** Prints the list as a table, or as JSON lines. */
export async function showKeys(print, isJson, facts) {
  if (isJson) {
    const instant = (at) => (at === undefined ? null : rfc3339(at));
    for (const { name, kind, uses, set, second, isDouble, madeAt: at, setBefore, due } of facts) {
      await print.line(jsonLine({ name, kind, for: uses, set, second: second ?? null, both: isDouble, madeAt: instant(at), setBefore: instant(setBefore), due: due ?? null }));
    }
    return;
  }
  const table = new Table(print, [{ name: "Secret", isWhole: true }, { name: "Set" }, { name: "Made" }, { name: "Second", extra: 1 }, { name: "Due" }, { name: "For" }]);
  const day = (at) => rfc3339(at).slice(0, 10);
  for (const { name, set, madeAt: at, setBefore, second, due, uses } of facts) {
    const made = at !== undefined ? day(at) : setBefore !== undefined ? `before ${day(setBefore)}` : "";
    await table.row([name, set === null ? "not known" : set ? "yes" : "no", made, second, due && { text: due, tone: "wait" }, uses.join("; ")]);
  }
  await table.flush();
  if (facts.some(({ set }) => set === null)) print.note("wrangler cannot list the secrets of the deployment; sign in with: npx a2a-edge wrangler login");
  print.note("Made: the day in the kid of a signing key that `keys` has made. Of other secrets it is only known since when none was changed.");
}
