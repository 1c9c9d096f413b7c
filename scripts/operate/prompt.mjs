// What is asked of people: a secret, which is not shown, and whether to go on.
import { createInterface } from "node:readline";
import { EXIT, Failure } from "./failure.mjs";
import { clean } from "./text.mjs";

const MAX_SECRET = 16 * 1024;

/** True if somebody can be asked. */
export const canAsk = () => process.stdin.isTTY === true && process.stderr.isTTY === true;

/** A secret: of A2A_EDGE_KEY, of the terminal, or the first line of stdin. */
export async function readSecret(question) {
  return secretOf(process.env.A2A_EDGE_KEY || (await readHidden(question)));
}

/** What is typed after a question, and not shown, or piped to stdin. */
export async function readHidden(question) {
  return process.stdin.isTTY === true ? await typed(question) : await piped();
}

/** A secret as it is sent. @throws {Failure} if the text is none */
export function secretOf(given) {
  const secret = given.trim();
  if (secret === "") throw new Failure("No key was given: type it, pipe it to stdin, or set A2A_EDGE_KEY.", EXIT.usage);
  if (!/^[\x20-\x7e\u00a1-\u{10ffff}]+$/u.test(secret))
    throw new Failure("The key holds control characters or several lines; a key is one line of text.", EXIT.usage);
  return secret;
}

async function piped() {
  let found = "";
  for await (const piece of process.stdin.setEncoding("utf8")) {
    found += piece;
    if (found.length > MAX_SECRET) throw new Failure("What stdin has is no key: it is too long.", EXIT.usage);
  }
  return found;
}

/** What is typed before Enter. It is not shown. */
function typed(question) {
  const { stdin, stderr } = process;
  // Before the question, so that nothing is shown of an answer that comes at once.
  stdin.setRawMode(true);
  stdin.setEncoding("utf8");
  stdin.resume();
  stderr.write(question);
  return new Promise((resolve, reject) => {
    let found = "";
    const end = (settle) => {
      stdin.off("data", take).off("end", over);
      stdin.setRawMode(false);
      stdin.pause();
      stderr.write("\n");
      settle();
    };
    const over = () => end(() => resolve(found));
    // A paste is one piece; terminals mark it by two sequences.
    const take = (piece) => {
      for (const letter of piece.replace(/\x1b\[20[01]~/g, "")) {
        if (letter === "\r" || letter === "\n" || letter === "\x04") return end(() => resolve(found));
        if (letter === "\x03") return end(() => process.exit(130));
        if (letter === "\x7f" || letter === "\b") found = [...found].slice(0, -1).join("");
        else if (letter === "\x15") found = "";
        else found += letter;
        if (found.length > MAX_SECRET) return end(() => reject(new Failure("That is no key: it is too long.", EXIT.usage)));
      }
    };
    stdin.on("data", take).on("end", over);
  });
}

/** Goes on if the person says yes, or `--yes` was given. Where nobody can be asked, `--yes` has to be. */
export async function confirm(question, isGiven) {
  if (isGiven) return;
  const answer = await answerTo(`${question} [y/N]`);
  if (!/^y(?:es)?$/i.test(answer)) throw new Failure("Nothing was done.");
}

/** Goes on if the person types this name, or `--yes` was given; as `confirm`. */
export async function confirmByName(question, name, isGiven) {
  if (isGiven) return;
  const answer = await answerTo(question);
  if (answer !== name.trim()) throw new Failure("That is not the name. Nothing was done.");
}

/** What a person types after a question; empty if that is nothing. */
async function answerTo(question) {
  if (!canAsk()) throw new Failure("Nobody can be asked here; add --yes to go on.", EXIT.usage);
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await new Promise((resolve) => {
    lines.once("close", () => resolve("")).once("SIGINT", () => process.exit(130));
    lines.question(`${clean(question)} `, resolve);
  });
  lines.close();
  return answer.trim();
}
