// The values of secrets: new ones, one with a second beside it, and one whose second is gone.
import { createHash, generateKeyPairSync, randomBytes } from "node:crypto";
import { EXIT, Failure } from "../failure.mjs";
import { list, record, text } from "../values.mjs";

/** Makes a value of each kind that can be made here; `now` is the date in the name of a signing key. */
const MAKE = {
  caller: () => randomBytes(24).toString("hex"),
  shared: () => randomBytes(32).toString("base64"),
  request: () => `whsec_${randomBytes(32).toString("base64")}`,
  signing: (now) => JSON.stringify(signingKey(now)),
  state: () => randomBytes(32).toString("base64"),
};

/** True if values of this kind are made here; others come from where they are used. */
export const isMade = (kind) => Object.hasOwn(MAKE, kind);

/** A new value. */
export const make = (kind, now = new Date()) => MAKE[kind](now);

/** A private key for ES256, whose `kid` begins with the day on which it was made. */
function signingKey(now) {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const jwk = privateKey.export({ format: "jwk" });
  const digest = createHash("sha256").update(`${jwk.x}.${jwk.y}`).digest("hex");
  return { ...jwk, kid: `${now.toISOString().slice(0, 10)}-${digest.slice(0, 8)}` };
}

/** The day in the `kid` of a signing key that was made here, in ms since 1970; undefined for other keys. */
export function madeAt(kid) {
  const day = /^(\d{4}-\d\d-\d\d)-[0-9a-f]{8}$/.exec(kid ?? "")?.[1];
  const at = Date.parse(`${day}T00:00:00Z`);
  return Number.isNaN(at) ? undefined : at;
}

/** What of a secret's value holds several keys: how they are read and written, the newest first. */
const SEVERAL = {
  signing: {
    read(value) {
      const found = record(parsed(value));
      const keys = found.keys === undefined ? [found] : list(found.keys).map(record);
      return keys.length > 0 && keys.every(({ kty, d }) => text(kty) !== undefined && text(d) !== undefined) ? keys.map((key) => JSON.stringify(key)) : undefined;
    },
    write: (keys) => (keys.length === 1 ? keys[0] : `{"keys":[${keys.join(",")}]}`),
    form: "a private key as a JWK, or a set of two",
  },
  state: {
    read(value) {
      const keys = value.trim().split(/\s+/);
      return keys.every((key) => Buffer.from(key, "base64").length === 32) ? keys : undefined;
    },
    write: (keys) => keys.join(" "),
    form: "32 bytes in base64, or two of them with a space between",
  },
};

/** True if a value of this kind may hold two keys, the new one and the old one. */
export const holdsTwo = (kind) => Object.hasOwn(SEVERAL, kind);

/** The keys in a value, the one that is used first. @throws {Failure} if it is no such value; nothing of it is told */
export function keysIn({ name, kind }, value) {
  const { read, form } = SEVERAL[kind];
  const keys = read(value);
  if (keys === undefined || keys.length > 2) throw new Failure(`What was given is no value of ${name}, which is ${form}.`, EXIT.usage);
  return keys;
}

/** The value with a new key before the one that it has. */
export function withSecond(entry, value, now = new Date()) {
  const keys = keysIn(entry, value);
  if (keys.length > 1) throw new Failure(`${entry.name} holds two keys already. Take the old one away first, with rotate --finish.`);
  return SEVERAL[entry.kind].write([make(entry.kind, now), ...keys]);
}

/** The value without its second key. */
export function withoutSecond(entry, value) {
  const [first, ...others] = keysIn(entry, value);
  if (others.length === 0) throw new Failure(`${entry.name} holds one key only: there is none to take away.`);
  return SEVERAL[entry.kind].write([first]);
}

function parsed(value) {
  try {
    return JSON.parse(value);
  } catch {
    return undefined;
  }
}
