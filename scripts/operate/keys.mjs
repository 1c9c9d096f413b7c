// The keys with which somebody has signed in: a file for each origin in the user's folder of configurations, which nobody else can read, as wrangler keeps its own.
import { chmodSync, closeSync, fsyncSync, mkdirSync, openSync, readFileSync, readdirSync, renameSync, rmSync, statSync, writeSync } from "node:fs";
import { homedir, platform } from "node:os";
import { join } from "node:path";
import { Failure } from "./failure.mjs";
import { fitting, isSlot } from "./slots.mjs";
import { list, record, text } from "./values.mjs";

/** The agent of a key that all agents of a server get. */
export const EVERY_AGENT = "*";

const SUFFIX = ".json";

/** The folder of the keys. */
export function keysFolder(env = process.env) {
  const system = { darwin: join(homedir(), "Library", "Preferences"), win32: env.APPDATA || join(homedir(), "AppData", "Roaming") }[platform()];
  return join(env.XDG_CONFIG_HOME || system || join(homedir(), ".config"), "a2a-edge", "keys");
}

const fileOf = (origin) => join(keysFolder(), encodeURIComponent(origin) + SUFFIX);

/** The keys for an origin: `{ agent, scheme, slot, secret, since }`; empty if nobody has signed in there. */
export function keptKeys(origin) {
  const file = fileOf(origin);
  let found;
  try {
    // Others may have been allowed to read it, such as by a copy of the folder.
    if (platform() !== "win32" && (statSync(file).mode & 0o077) !== 0) chmodSync(file, 0o600);
    found = readFileSync(file, "utf8");
  } catch (error) {
    if (error.code === "ENOENT") return [];
    throw error;
  }
  try {
    return list(record(JSON.parse(found)).keys)
      .map(record)
      .filter(({ slot, secret, agent }) => isSlot(slot) && text(agent) !== undefined && fitting([slot], text(secret) ?? "").length > 0);
  } catch {
    throw new Failure(`${file} is damaged; sign in again with: npx a2a-edge login --url ${origin}`);
  }
}

/** Keeps a key; it replaces that of the same agent. One for every agent replaces all. */
export function keep(origin, key) {
  const others = key.agent === EVERY_AGENT ? [] : intact(origin).filter(({ agent }) => agent !== key.agent);
  write(fileOf(origin), JSON.stringify({ origin, keys: [...others, { ...key, since: new Date().toISOString() }] }, null, 2));
}

function intact(origin) {
  try {
    return keptKeys(origin);
  } catch (error) {
    if (error instanceof Failure) return [];
    throw error;
  }
}

/** Deletes the keys for an origin, or that of one agent. Returns whether there was one. */
export function forget(origin, agent) {
  const kept = agent === undefined ? [] : keptKeys(origin);
  const others = kept.filter((key) => key.agent !== agent);
  if (agent !== undefined && others.length === kept.length) return false;
  if (others.length > 0) {
    write(fileOf(origin), JSON.stringify({ origin, keys: others }, null, 2));
    return true;
  }
  const isThere = originsKept().includes(origin);
  rmSync(fileOf(origin), { force: true });
  return isThere;
}

/** The origins with keys, the one of the last sign-in first. */
export function originsKept() {
  const folder = keysFolder();
  let names;
  try {
    names = readdirSync(folder).filter((name) => name.endsWith(SUFFIX));
  } catch (error) {
    if (error.code === "ENOENT") return [];
    throw error;
  }
  const found = names.map((name) => ({ origin: decoded(name.slice(0, -SUFFIX.length)), at: statSync(join(folder, name)).mtimeMs }));
  return found
    .filter(({ origin }) => origin !== undefined)
    .sort((one, other) => other.at - one.at)
    .map(({ origin }) => origin);
}

function decoded(name) {
  try {
    return new URL(decodeURIComponent(name)).origin;
  } catch {
    return undefined;
  }
}

/** A reader finds the file as it was or as it is, never a part of it. */
function write(file, content) {
  const folder = keysFolder();
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (platform() !== "win32") chmodSync(folder, 0o700);
  const own = `${file}.${process.pid}`;
  try {
    const handle = openSync(own, "wx", 0o600);
    try {
      writeSync(handle, `${content}\n`);
      fsyncSync(handle);
    } finally {
      closeSync(handle);
    }
    renameSync(own, file);
  } catch (error) {
    rmSync(own, { force: true });
    throw error;
  }
}
