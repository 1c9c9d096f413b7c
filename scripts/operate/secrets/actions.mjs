// `keys make` and `keys rotate`: a new value for a secret, and the steps in which it replaces the old one.
import { rmSync } from "node:fs";
import { wranglerLine } from "../../lib/command.mjs";
import { EXIT, Failure } from "../failure.mjs";
import { confirm, readHidden } from "../prompt.mjs";
import { Deployment, writeNew } from "./places.mjs";
import { publishedKeys, requirePublished } from "./project.mjs";
import { holdsTwo, isMade, keysIn, make, withSecond, withoutSecond } from "./values.mjs";

/** `make NAME`: a new value, which no other one is accepted beside. */
export async function makeKey({ print, values, refuse }, entry, place) {
  const { name, kind } = entry;
  if (!isMade(kind)) throw new Failure(`${name} is not made here (${entry.uses.join(", ")}). Set it with: ${wranglerLine("secret", "put", name)}`);
  if (values.print) return print.line(make(kind));
  const { names } = await namesOf(place);
  if (names.has(name) && !values.replace) {
    throw new Failure(`${name} is set already. To replace it without a refusal in between: ${line(values, `rotate ${name}`)}. --replace replaces it at once.`);
  }
  if (names.has(name)) await confirm(`Replace ${name} at ${place.title}? The present value is refused from then on.`, values.yes);
  await set({ values, refuse }, entry, place, make(kind));
  print.note(handOver(entry, values.save, place));
  return 0;
}

/** `rotate NAME`: the new one beside the old one; with `--finish`, the new one alone. */
export function rotateKey(context, entry, place) {
  const { values } = context;
  const { name, kind } = entry;
  if (holdsTwo(kind)) return rotateValue(context, entry, place);
  if (kind === "request") {
    throw new Failure(`Requests are signed with one ${name} at a time. Make another one with: ${line(values, `make ${name} --print`)}; let the program accept both; then set it with: ${wranglerLine("secret", "put", name)}`);
  }
  if (kind === "other") throw new Failure(`${name} is not made here (${entry.uses.join(", ")}). Get a new one where it comes from, set it with: ${wranglerLine("secret", "put", name)}, and then revoke the old one there.`);
  return rotateName(context, entry, place);
}

/** A secret that has a second name: the value under it is accepted, too. */
async function rotateName({ print, values, refuse }, entry, place) {
  const { name, second } = entry;
  if (second === undefined) {
    const where = entry.alone.length > 0 ? entry.alone.join(", ") : "the places where it is accepted, which have no other name in common";
    throw new Failure(`${name} has no second name in ${where}. Add one to the list, such as secrets = ["${name}", "${name}_NEXT"], and deploy.`);
  }
  if (values.print && values.finish) throw refuse(`--finish deletes ${name}, so there is nothing to print.`);
  if (values.print) return print.line(make(entry.kind));
  const { names } = await namesOf(place);
  if (values.finish) {
    if (!names.has(second)) throw new Failure(`${second}, which replaces ${name}, is not set: ${line(values, `rotate ${name}`)} comes first.`);
    if (!names.has(name)) throw new Failure(`${name} is not set at ${place.title} any more; ${second} has replaced it.`);
    await confirm(`Delete ${name} at ${place.title}? Who still uses it is refused from then on.`, values.yes);
    await place.remove(name);
    print.note(`${name} is deleted; ${second} is accepted alone. The next time, replace that: ${line(values, `rotate ${second}`)}`);
    return 0;
  }
  if (!names.has(name)) throw new Failure(`${name} is not set at ${place.title}, so there is nothing to replace. ${names.has(second) ? `${second} is: ${line(values, `rotate ${second}`)}` : `Make it with: ${line(values, `make ${name}`)}`}`);
  if (names.has(second)) throw new Failure(`${name} and ${second} are both set. When nobody uses ${name} any more: ${line(values, `rotate ${name} --finish`)}`);
  await set({ values, refuse }, { ...entry, name: second }, place, make(entry.kind));
  print.note(`Both ${name} and ${second} are accepted now. ${handOver({ ...entry, name: second }, values.save, place)}\nWhen nobody uses the old one any more: ${line(values, `rotate ${name} --finish`)}`);
  return 0;
}

/** A secret whose value holds both keys. The present value has to be given, unless it is on this machine. */
async function rotateValue({ print, values, refuse }, entry, place) {
  const { name, kind } = entry;
  if (!values.print && !values.local && values.save === undefined && !values.finish) throw refuse(needsSave(name));
  const present = place.value === undefined ? (await readHidden(`The present value of ${name}, which is not shown:`)).trim() : place.value(name);
  if (!present) throw new Failure(place.value === undefined ? `The present value of ${name} was not given: type it, or pipe it to stdin.` : `${name} is not set in ${place.title}. Make it with: ${line(values, `make ${name}`)}`, EXIT.usage);
  const value = values.finish ? withoutSecond(entry, present) : withSecond(entry, present);
  if (kind === "signing" && !values.local) {
    const published = await publishedKeys(values.url, values.env);
    if (published !== undefined) requirePublished(keysIn(entry, present), published);
  }
  if (values.print) return print.line(value);
  if (values.finish) await confirm(`Take the old key out of ${name} at ${place.title}?`, values.yes);
  await set({ values, refuse }, entry, place, value, { mayGo: values.finish });
  print.note(values.finish ? `${name} holds the new key alone.` : `${AFTERWARDS[kind]}\nThen: ${line(values, `rotate ${name} --finish`)}${values.local ? "" : `, with the value in ${values.save}`}`);
  return 0;
}

/** What has to happen before the old key of a value may go. */
const AFTERWARDS = {
  signing: "Both keys are published: the new one signs notifications, and both sign cards. Who has stored the old one has to read /.well-known/jwks.json again. Wait an hour, for which cards may be kept.",
  state: "The new key encrypts, and both decrypt. Wait an hour, until no turn needs credentials that the old one has encrypted.",
};

/** The command line for what comes next, at the same place. */
const line = ({ local, env }, words) => ["npx a2a-edge keys", words, local && "--local", env && `--env ${env}`].filter(Boolean).join(" ");

/** Sets a value, and writes it into the file of `--save` first: what is set cannot be read back. `mayGo` if the person has the value already. */
async function set({ values, refuse }, { name }, place, value, { mayGo = false } = {}) {
  if (values.save === undefined && place instanceof Deployment && !mayGo) throw refuse(needsSave(name));
  if (values.save !== undefined) writeNew(values.save, `${value}\n`);
  try {
    await place.put(name, value);
  } catch (error) {
    if (values.save !== undefined) rmSync(values.save, { force: true });
    throw error;
  }
}

const needsSave = (name) => `The deployment does not give ${name} back: add --save FILE, which gets it too, or --print, which sets nothing.`;

/** @throws {Failure} if it is not known what is set */
async function namesOf(place) {
  const found = await place.names();
  if (!found.isWhole) throw new Failure(`wrangler cannot list what is set. Sign in with: ${wranglerLine("login")}`, EXIT.notSignedIn);
  return found;
}

/** What is to be done with a new value. */
function handOver({ name, kind, uses }, file, place) {
  const where = file === undefined ? place.title : file;
  const advice = place.advice === undefined ? "" : ` ${place.advice}`;
  const whom = { caller: "Hand it over", shared: "Give it to whoever makes the tokens", request: "Give it to the program that verifies the requests" }[kind];
  if (whom === undefined) return `${name} is set. Keep ${where === file ? `the value in ${file} where you keep secrets, since a rotation needs it` : "the file to yourself"}.${advice}`;
  return `${name} is set, and stands in ${where}. ${whom}: ${uses.join(", ")}.${file === undefined ? "" : " Then delete the file."}${advice}`;
}
