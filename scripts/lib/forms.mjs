// The stored forms of this version, and those of the versions that were uploaded before: `deploy` notes its own with what it uploads, `rollback` compares.
import { VERSION } from "./upgrade.mjs";
import { migrations } from "./wrangler.mjs";

/**
 * The forms with a number, as src/format.rs has them: the largest number that is `read`, and the largest one that is `written`. `left` says what becomes
 * of a form with a larger number than a version reads (docs/upgrades.md).
 */
export const FORMS = [
  {
    name: "object", read: 2, written: 2,
    left: "Tasks that were begun or changed since: calls to them are answered with 503 and Retry-After, nothing runs, and nothing of them is lost. They go on when a newer version is back.",
  },
  { name: "command", read: 3, written: 3, left: "Requests that pass between the two versions during the rollback: some are answered with 503 and Retry-After." },
  { name: "turn", read: 1, written: 1, left: "Notifications of objects that still run the newer code: they are sent later." },
  { name: "job", read: 1, written: 1, left: "Messages in the queue of notifications: they are tried again, then kept as dead letters; tasks send them again when their code is back." },
  { name: "page", read: 1, written: 1, left: "Page tokens of lists that clients are reading: they are answered with 503 until a newer version is back." },
];

/** The form of D1: its number is that of its migrations, which are never undone. */
const D1 = "d1";

/** What `deploy` writes before the message of a version. */
export const MARK = `a2a-edge ${VERSION} [${[...FORMS.map(({ name, read, written }) => `${name}=${read}${written === read ? "" : `/${written}`}`), `${D1}=${migrations().length}`].join(" ")}]`;

/** The message of a version, with the mark before what the user says. */
export const marked = (message) => (message === undefined ? MARK : `${MARK}: ${message}`);

/** What the message of a version tells: `{ version, forms: { object: { read, written }, … }, said }`; undefined without a mark. */
export function readMark(message) {
  const [, version, listed, said] = /^a2a-edge (\d[\w.+-]*) \[([a-z0-9=/ ]*)\](?:: ([^]*))?$/.exec(message ?? "") ?? [];
  if (version === undefined) return undefined;
  const forms = [...listed.matchAll(/([a-z][a-z0-9]*)=(\d+)(?:\/(\d+))?/g)];
  return { version, said, forms: Object.fromEntries(forms.map(([, name, read, written = read]) => [name, { read: Number(read), written: Number(written) }])) };
}

/**
 * What the version of one mark leaves alone of what that of another one, which runs, has written: `left`, a sentence for each form; and `tables`, the number of
 * migrations of the database that it does not know.
 */
export function leftAlone(running, older) {
  const exceeds = (name) => (running.forms[name]?.written ?? 0) > (older.forms[name]?.read ?? 0);
  const left = FORMS.filter(({ name }) => exceeds(name)).map(({ left }) => left);
  // A form that this version does not have came with a newer one.
  const others = Object.keys(running.forms).filter((name) => name !== D1 && !FORMS.some((form) => form.name === name) && exceeds(name));
  for (const name of others) left.push(`What has the form "${name}", which came with a2a-edge ${running.version}: its docs/upgrades.md says what that is.`);
  return { left, tables: Math.max(0, (running.forms[D1]?.written ?? 0) - (older.forms[D1]?.read ?? 0)) };
}
