// The code that the console offers to copy: what it sends, and that words of a card stay words in it.

import assert from "node:assert/strict";
import { test } from "node:test";
import { readCard } from "../../console/src/api/card.ts";
import { snippetsFor } from "../../console/src/pages/agents/snippets.ts";
import { AT, good } from "./cards.ts";

const codes = (change: object, text = "hello"): Record<string, string> =>
  Object.fromEntries(snippetsFor(readCard({ ...good(), ...change }), AT, text).map(({ title, code }) => [title, code]));

test("each of two schemes that are needed together has a variable of its own", () => {
  const securitySchemes = {
    key: { apiKeySecurityScheme: { location: "query", name: "key" } },
    people: { httpAuthSecurityScheme: { scheme: "basic" } },
  };
  const { curl = "", Python = "" } = codes({ securitySchemes, securityRequirements: [{ schemes: { key: {}, people: {} } }] });
  assert.ok(curl.includes(`'https://agents.example/invoices''?key='"$A2A_SECRET"`), curl);
  assert.ok(curl.includes(`-H 'Authorization: Basic '"$A2A_SECRET_2"`), curl);
  assert.ok(Python.includes(`"Authorization": "Basic " + os.environ["A2A_SECRET_2"]`), Python);
});

test("an agent of 0.3 alone is called in 0.3, and one by gRPC alone with SDKs only", () => {
  const interfaces = (protocolBinding: string, protocolVersion: string) => ({ supportedInterfaces: [{ url: "https://a.example/x/", protocolBinding, protocolVersion }] });
  const { curl = "" } = codes(interfaces("HTTP+JSON", "0.3"));
  assert.ok(curl.includes("https://a.example/x/v1/message:send") && !curl.includes("A2A-Version"), curl);
  assert.deepEqual(Object.keys(codes(interfaces("GRPC", "1.0"))), ["JavaScript", "Python"]);
});

test("words of a card and of a message end no string", () => {
  const awkward = `'; rm -rf / #"\\\n$(id)\`id\``;
  const { curl = "", JavaScript = "", Python = "" } = codes({ supportedInterfaces: [{ url: `https://a.example/${awkward}`, protocolBinding: "JSONRPC", protocolVersion: "1.0" }] }, awkward);
  // Outside of the quotes of the shell nothing is left but options and escaped quotes.
  const outside = curl.replaceAll("'\\''", "").replace(/'[^']*'/g, "").replaceAll('"$A2A_SECRET"', "");
  assert.match(outside, /^curl -s[\s\\]+(-H[\s\\]+)*-d\s*$/);
  assert.ok(JavaScript.includes(JSON.stringify(awkward)) && Python.includes(JSON.stringify(awkward)));
});
