// The headers of a signature in what somebody pastes (console/src/pages/webhooks/signed.ts).
import assert from "node:assert/strict";
import { test } from "node:test";
import { signedHeaders } from "../../console/src/pages/webhooks/signed.ts";

// It begins like bytes of Python, but has no quote behind it.
const ID = "b88b-1.mine.5";
const TIME = "1700000000";
const SIGNATURE = "v1,K97H6lEz3fd6roU73yGJN+/= v1,AAA=";
const all = { "webhook-id": ID, "webhook-timestamp": TIME, "webhook-signature": SIGNATURE };

test("headers are found in what programs, logs and commands print", () => {
  const pairs = Object.entries(all);
  const titled = pairs.map(([name, value]): [string, string] => [name.replace(/(^|-)\w/g, (letter) => letter.toUpperCase()), value]);
  for (const text of [
    `POST /a2a HTTP/1.1\r\nauthorization: Bearer x\r\n${titled.map(([name, value]) => `${name}: ${value}`).join("\r\n")}\r\n\r\n{}`,
    pairs.map(([name, value]) => `> ${name}:${value}  `).join("\n"),
    JSON.stringify({ host: "a", ...all }),
    JSON.stringify({ ...all, "webhook-timestamp": Number(TIME) }, null, 2),
    `{ host: 'a', ${pairs.map(([name, value]) => `'${name}': '${value}'`).join(",\n")} }`,
    `[(b'host', b'a'), ${titled.map(([name, value]) => `(b'${name}', b'${value}')`).join(", ")}]`,
    pairs.map(([name, value]) => `-H '${name}: ${value}' \\`).join("\n"),
    JSON.stringify(Object.fromEntries(titled.map(([name, value]) => [name, [value]]))),
  ]) assert.deepEqual(signedHeaders(text), all, text);
});

test("what is not there is left out, and so is every other header", () => {
  assert.deepEqual(signedHeaders(""), {});
  assert.deepEqual(signedHeaders("x-webhook-id: a\nwebhook-id-2: b\nauthorization: Bearer hush"), {});
  assert.deepEqual(signedHeaders("webhook-id: a"), { "webhook-id": "a" });
});
