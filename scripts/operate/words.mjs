// States, times and numbers in the words of the console (states.mjs, console/src/pages).
import { Failure, EXIT } from "./failure.mjs";
import { AGENT_HEALTH, TASK_STATES, WEBHOOK_HEALTH } from "./states.mjs";

/** The states as options name them: `completed`, `input-required`. */
export const STATE_NAMES = Object.keys(TASK_STATES).map((state) => state.slice("TASK_STATE_".length).toLowerCase().replaceAll("_", "-"));

/** The state of the protocol that an option names. */
export function stateOf(name) {
  const state = `TASK_STATE_${name
    .replace(/^TASK_STATE_/i, "")
    .toUpperCase()
    .replace(/[- ]/g, "_")}`;
  if (!Object.hasOwn(TASK_STATES, state)) throw new Failure(`There is no state "${name}"; the states are ${STATE_NAMES.join(", ")}.`, EXIT.usage);
  return state;
}

/** What a table of words has for a name, as a cell. A name that it lacks is shown unchanged. */
function cellOf(words, name) {
  const { word, tone } = Object.hasOwn(words, name) ? words[name] : { word: name, tone: "idle" };
  return { text: word, tone };
}

/** A state as a cell. A state that is unknown is shown unchanged. */
export function stateCell(state) {
  return cellOf(TASK_STATES, String(state ?? "unknown"));
}

export const isFinal = (state) => /_(?:COMPLETED|FAILED|CANCELED|REJECTED)$/.test(state);

/** The health of a webhook as a cell. */
export const healthCell = (health) => cellOf(WEBHOOK_HEALTH, String(health));

/** The health of an agent as a cell. */
export const agentHealthCell = (health) => cellOf(AGENT_HEALTH, health);

/** An instant in ms since 1970 from such a number or from RFC 3339; undefined if it is neither. */
export function instant(at) {
  const ms = typeof at === "string" ? Date.parse(at) : at;
  return typeof ms === "number" && Math.abs(ms) <= 8.64e15 ? ms : undefined;
}

/** An instant in RFC 3339, for programs. */
export function rfc3339(at) {
  const ms = instant(at);
  return ms === undefined ? undefined : new Date(ms).toISOString();
}

const two = (number) => String(number).padStart(2, "0");

/** An instant in local time: `2026-11-20 22:17:45`. */
export function timeWord(at) {
  const ms = instant(at);
  return ms === undefined ? "unknown" : `${dayWord(ms)} ${clockWord(ms).slice(0, 8)}`;
}

/** The local day of an instant: `2026-11-20`. */
export function dayWord(ms) {
  const date = new Date(ms);
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

/** The local time of day: `22:17:45.339`. */
export function clockWord(ms) {
  const date = new Date(ms);
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}.${String(date.getMilliseconds()).padStart(3, "0")}`;
}

/** A duration: `12 ms`, `3.4 s` or `2 min 5 s`. */
export function durationWord(ms) {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
}

export function bytesWord(bytes) {
  if (bytes < 1000) return `${bytes} B`;
  return bytes < 1_000_000 ? `${(bytes / 1000).toFixed(1)} KB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}

/** `1 task` or `2 tasks`. */
export const counted = (count, one, many = `${one}s`) => `${count} ${count === 1 ? one : many}`;

const UNITS = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** The instant that `--since` names, in RFC 3339: a time ago (`30m`, `2h`, `7d`), or a date with or without a time. */
export function sinceOf(given, now = Date.now()) {
  const [, count, unit] = /^(\d{1,6})([smhd])$/.exec(given) ?? [];
  if (count !== undefined) return rfc3339(now - Number(count) * UNITS[unit]);
  // A date alone is the beginning of the local day.
  const ms = /^\d{4}-\d\d-\d\d(?:$|[T ])/.test(given) ? Date.parse(given.length === 10 ? `${given}T00:00:00` : given) : NaN;
  if (Number.isNaN(ms)) throw new Failure(`"${given}" is no time: write 30m, 2h, 7d, 2026-11-20 or 2026-11-20T22:17:45Z.`, EXIT.usage);
  return rfc3339(ms);
}

/** The number that an option gives. */
export function numberOf(option, given, { least = 1, most = 1_000_000_000 } = {}) {
  const number = /^\d+$/.test(given) ? Number(given) : NaN;
  if (!(number >= least && number <= most)) throw new Failure(`--${option} takes a number from ${least} to ${most}, got "${given}".`, EXIT.usage);
  return number;
}
