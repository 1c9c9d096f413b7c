// Searches logs for secrets: unchanged, and in the forms in which programs pass texts on. The log of a whole run of the
// end-to-end tests must not contain any secret of its specs; the harness writes both into a folder, `log-<process>.txt`
// and `secrets-<process>.jsonl`.

import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";

/** Shorter values do not count as secrets: they occur in logs by chance. */
const LEAST_CHARS = 8;

/** Matches the names of variables whose values are secrets. */
const SECRET_NAME = /SECRET|KEY|TOKEN|PASSWORD|CREDENTIAL|JWK/;

/** The secrets among the variables of a Worker. For a JWK, its private members are also secrets. */
export function secretsOf(vars) {
  const named = Object.entries(vars).filter(([name]) => SECRET_NAME.test(name));
  return named.flatMap(([name, value]) => {
    const members = [...value.matchAll(/"(?:d|k|p|q|dp|dq|qi)"\s*:\s*"([^"]+)"/g)].map(([, member]) => ({ name, value: member }));
    return [{ name, value }, ...members];
  }).filter(({ value }) => value.trim().length >= LEAST_CHARS);
}

/** The names of the secrets that occur in a text in any form. */
export function leaksIn(text, secrets) {
  const found = secrets.filter(({ value }) => formsOf(value).some((form) => text.includes(form)));
  return [...new Set(found.map(({ name }) => name))];
}

/** The forms of a value: unchanged, in JSON (once and twice), in URLs, and in base64 of both alphabets, at any offset. */
function formsOf(value) {
  const json = JSON.stringify(value).slice(1, -1);
  const base64 = [0, 1, 2].map((before) => {
    const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(value)]);
    const encoded = bytes.toString("base64").replace(/=+$/, "");
    // In base64, the first characters also depend on the preceding bytes, the last character on the following bytes.
    return encoded.slice([0, 2, 3][before], bytes.length % 3 === 0 ? undefined : -1);
  });
  const forms = [value, json, JSON.stringify(json).slice(1, -1), encodeURIComponent(value), ...base64];
  return [...new Set([...forms, ...base64.map((form) => form.replaceAll("+", "-").replaceAll("/", "_"))])];
}

/** The number of logged lines and of used secrets, and the names of the secrets in the log. */
export function findLeaks(folder) {
  const texts = (beginning) => readdirSync(folder).filter((name) => name.startsWith(beginning)).map((name) => readFileSync(join(folder, name), "utf8"));
  const secrets = [...new Set(texts("secrets-").join("").split("\n").filter(Boolean))].map((line) => JSON.parse(line));
  const log = texts("log-").join("");
  return { lines: log.split("\n").length - 1, secrets: secrets.length, leaks: leaksIn(log, secrets) };
}
