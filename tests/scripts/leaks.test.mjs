// The search for secrets in logs finds them, and nothing else.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { findLeaks, leaksIn, secretsOf } from "../../scripts/lib/leaks.mjs";

const value = 'p?ss~w"rd/ünd&more';
const secrets = [{ name: "A_KEY", value }, { name: "OTHER_KEY", value: "nowhere-to-be-seen" }];

test("a secret is found in every form", () => {
  const base64 = (before) => Buffer.from(`${before}${value}:x`).toString("base64");
  for (const leak of [
    value, JSON.stringify({ value }), JSON.stringify(JSON.stringify({ value })), encodeURIComponent(value), `https://a.example/?key=${encodeURIComponent(value)}`,
    base64(""), base64("u"), base64("us"), base64("user:"), Buffer.from(`us${value}`).toString("base64url"),
  ]) {
    assert.deepEqual(leaksIn(`a line\nand another with ${leak} in it\n`, secrets), ["A_KEY"], leak);
  }
});

test("what is no secret is not found", () => {
  for (const text of ["", "A_KEY", value.slice(1), value.toUpperCase(), Buffer.from("something else").toString("base64")]) {
    assert.deepEqual(leaksIn(text, secrets), [], text);
  }
});

test("the secrets of a Worker are known by their names, and private members of keys are secrets, too", () => {
  const jwk = JSON.stringify({ kty: "EC", x: "public-part", d: "private-part" });
  const vars = { AGENTS: "[]", PUBLIC_URL: "https://a.example", SIGNING_JWK: jwk, API_TOKEN: "token-of-the-test", SHORT_KEY: "short", EMPTY_KEY: "  ".repeat(8) };
  assert.deepEqual(secretsOf(vars), [
    { name: "SIGNING_JWK", value: jwk }, { name: "SIGNING_JWK", value: "private-part" }, { name: "API_TOKEN", value: "token-of-the-test" },
  ]);
});

test("a run whose log holds a secret of any of its specs fails", () => {
  const folder = mkdtempSync(join(tmpdir(), "a2a-edge-leaks-"));
  try {
    writeFileSync(join(folder, "secrets-1.jsonl"), `${JSON.stringify(secrets[0])}\n`);
    writeFileSync(join(folder, "log-2.txt"), "harmless\n");
    assert.deepEqual(findLeaks(folder), { lines: 1, secrets: 1, leaks: [] });
    writeFileSync(join(folder, "log-3.txt"), `one\nwith ${encodeURIComponent(value)}\n`);
    assert.deepEqual(findLeaks(folder), { lines: 3, secrets: 1, leaks: ["A_KEY"] });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
