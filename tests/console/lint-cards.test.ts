// Each thing that the console advises about a card, by the change of a good card that leads to it.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { RPC, encoded, findings, good, told, type Json } from "./cards.ts";

test("nothing is said about a good card", () => {
  assert.deepEqual(findings(good()), []);
});

/** What is changed in the good card, and all that is said then. */
const changes: [string, (card: Json) => void, string[]][] = [
  ["no name", (card) => delete card["name"], ["error name"]],
  ["a name of a wrong type", (card) => (card["name"] = 7), ["error name"]],
  ["no description", (card) => (card["description"] = ""), ["error description"]],
  ["no version", (card) => delete card["version"], ["error version"]],
  ["a long name", (card) => (card["name"] = "a".repeat(81)), ["warning name"]],
  ["a name that turns the text", (card) => (card["name"] = "Bank\u202eagent"), ["warning name"]],
  ["a long description", (card) => (card["description"] = "a".repeat(2001)), ["warning description"]],
  ["a provider without name", (card) => (card["provider"] = { url: "https://example.com" }), ["error provider.organization"]],
  ["a provider without URL", (card) => (card["provider"] = { organization: "Example" }), ["error provider.url"]],
  ["a provider at a script", (card) => (card["provider"].url = "javascript:alert(1)"), ["error provider.url"]],
  ["documentation at a relative URL", (card) => (card["documentationUrl"] = "/docs"), ["error documentationUrl"]],
  ["documentation by http", (card) => (card["documentationUrl"] = "http://example.com/docs"), ["advice documentationUrl"]],
  ["an icon by http", (card) => (card["iconUrl"] = "http://example.com/icon.png"), ["warning iconUrl"]],
  ["an icon in the card", (card) => (card["iconUrl"] = "data:image/png;base64,AA=="), []],
  ["no modes", (card) => (delete card["defaultInputModes"], (card["defaultOutputModes"] = [])), ["error defaultInputModes", "error defaultOutputModes"]],
  ["modes of 0.1", (card) => (card["defaultInputModes"] = ["text"]), ["warning defaultInputModes"]],
  ["modes with wildcards and parameters", (card) => (card["defaultInputModes"] = ["image/*", "text/plain; charset=utf-8", "*/*"]), []],

  ["no interfaces", (card) => (card["supportedInterfaces"] = []), ["error supportedInterfaces"]],
  ["an interface without URL", (card) => (card["supportedInterfaces"][0].url = ""), ["error supportedInterfaces[0].url"]],
  ["a relative URL", (card) => (card["supportedInterfaces"][0].url = "/invoices"), ["error supportedInterfaces[0].url"]],
  ["a URL of another kind", (card) => (card["supportedInterfaces"][0].url = "ftp://agents.example/invoices"), ["error supportedInterfaces[0].url"]],
  ["an address of gRPC", (card) => card["supportedInterfaces"].push({ url: "agents.example:443", protocolBinding: "GRPC", protocolVersion: "1.0" }), []],
  ["an http URL behind https", (card) => (card["supportedInterfaces"][0].url = "http://agents.example/invoices"), ["error supportedInterfaces[0].url"]],
  ["a host of this machine", (card) => (card["supportedInterfaces"][0].url = "https://localhost:8787/invoices"), ["error supportedInterfaces[0].url"]],
  ["a host of the network", (card) => (card["supportedInterfaces"][0].url = "https://10.0.0.7/invoices"), ["error supportedInterfaces[0].url"]],
  ["another host", (card) => (card["supportedInterfaces"][0].url = "https://other.example/invoices"), ["advice supportedInterfaces[0].url"]],
  ["a password in the URL", (card) => (card["supportedInterfaces"][0].url = "https://me:pass@agents.example/invoices"), ["error supportedInterfaces[0].url"]],
  ["a fragment in the URL", (card) => (card["supportedInterfaces"][0].url = `${RPC}#top`), ["warning supportedInterfaces[0].url"]],
  ["no binding", (card) => delete card["supportedInterfaces"][0].protocolBinding, ["error supportedInterfaces[0].protocolBinding"]],
  ["a binding in other letters", (card) => (card["supportedInterfaces"][0].protocolBinding = "jsonrpc"), ["error supportedInterfaces[0].protocolBinding"]],
  ["a binding of one's own", (card) => card["supportedInterfaces"].push({ url: RPC, protocolBinding: "https://example.com/mqtt", protocolVersion: "1.0" }), []],
  ["no version of the protocol", (card) => delete card["supportedInterfaces"][1].protocolVersion, ["error supportedInterfaces[1].protocolVersion", "advice supportedInterfaces"]],
  ["a version with a patch number", (card) => (card["supportedInterfaces"][0].protocolVersion = "1.0.0"), ["warning supportedInterfaces[0].protocolVersion"]],
  ["a version that is none", (card) => (card["supportedInterfaces"][1].protocolVersion = "latest"), ["error supportedInterfaces[1].protocolVersion", "advice supportedInterfaces"]],
  ["a version to come", (card) => card["supportedInterfaces"].push({ url: `${RPC}/next`, protocolBinding: "HTTP+JSON", protocolVersion: "1.7" }), ["warning supportedInterfaces[2].protocolVersion"]],
  ["an interface twice", (card) => card["supportedInterfaces"].push({ ...card["supportedInterfaces"][1] }), ["warning supportedInterfaces[2]"]],
  ["an older interface first", (card) => card["supportedInterfaces"].reverse(), ["warning supportedInterfaces[1]"]],
  ["no interface of 0.3", (card) => card["supportedInterfaces"].pop(), ["advice supportedInterfaces"]],
  ["no interface of 1.0", (card) => card["supportedInterfaces"].shift(), ["warning supportedInterfaces"]],
  ["gRPC alone", (card) => card["supportedInterfaces"].forEach((one: Json) => (one["protocolBinding"] = "GRPC")), ["advice supportedInterfaces"]],
  ["a url for older clients that is none of the interfaces", (card) => (card["url"] = "https://agents.example/older"), ["warning url"]],
  ["a version of 1.0 for older clients", (card) => Object.assign(card, { url: RPC, protocolVersion: "1.0" }), ["warning protocolVersion"]],
  ["the members of 0.3 beside", (card) => Object.assign(card, { url: RPC, protocolVersion: "0.3.0" }), []],

  ["no capabilities", (card) => delete card["capabilities"], ["error capabilities"]],
  ["empty capabilities", (card) => (card["capabilities"] = {}), []],
  ["streams over bindings of one's own", (card) => card["supportedInterfaces"].forEach((one: Json) => (one["protocolBinding"] = "urn:x")), ["warning capabilities.streaming"]],
  ["an extended card for nobody", (card) => (card["capabilities"].extendedAgentCard = true, delete card["securitySchemes"], delete card["securityRequirements"]),
    ["warning capabilities.extendedAgentCard", "advice securitySchemes"]],
  ["an extension without URI", (card) => (card["capabilities"].extensions = [{}]), ["error capabilities.extensions[0].uri"]],
  ["an extension that is no URI", (card) => (card["capabilities"].extensions = [{ uri: "trace" }]), ["warning capabilities.extensions[0].uri"]],
  ["an extension twice", (card) => (card["capabilities"].extensions = [{ uri: "urn:a" }, { uri: "urn:a" }]), ["warning capabilities.extensions[1]"]],
  ["a required extension", (card) => (card["capabilities"].extensions = [{ uri: "urn:a", required: true }]), ["warning capabilities.extensions[0]"]],
  ["a required extension that the console knows", (card) => (card["capabilities"].extensions = [{ uri: "urn:a2a-edge:generation:v1", required: true }]), []],

  ["a scheme of no kind", (card) => (card["securitySchemes"].key = { type: "apiKey", in: "header", name: "X-Key" }), ["error securitySchemes.key"]],
  ["a scheme of two kinds", (card) => (card["securitySchemes"].key.mtlsSecurityScheme = {}), ["error securitySchemes.key"]],
  ["a key of no place", (card) => delete card["securitySchemes"].key.apiKeySecurityScheme.location, ["error securitySchemes.key.location"]],
  ["a key of no name", (card) => delete card["securitySchemes"].key.apiKeySecurityScheme.name, ["error securitySchemes.key.name"]],
  ["a key in the URL", (card) => (card["securitySchemes"].key.apiKeySecurityScheme.location = "query"), ["advice securitySchemes.key"]],
  ["an unnamed scheme of HTTP", (card) => (card["securitySchemes"].key = { httpAuthSecurityScheme: {} }), ["error securitySchemes.key.scheme"]],
  ["no flow", (card) => (card["securitySchemes"].login.oauth2SecurityScheme.flows = {}, card["securityRequirements"].pop()), ["error securitySchemes.login.flows"]],
  ["a flow without URL", (card) => (card["securitySchemes"].login.oauth2SecurityScheme.flows = { clientCredentials: { scopes: { read: "" } } }),
    ["error securitySchemes.login.flows.clientCredentials.tokenUrl"]],
  ["a flow by http", (card) => (card["securitySchemes"].login.oauth2SecurityScheme.flows.clientCredentials.tokenUrl = "http://id.example/token"),
    ["error securitySchemes.login.flows.clientCredentials.tokenUrl"]],
  ["a flow that nobody knows", (card) => (card["securitySchemes"].login.oauth2SecurityScheme.flows = { magic: {} }), ["error securitySchemes.login.flows.magic"]],
  ["two flows", (card) => (card["securitySchemes"].login.oauth2SecurityScheme.flows.deviceCode = { deviceAuthorizationUrl: "https://id.example/d", tokenUrl: "https://id.example/t" }),
    ["warning securitySchemes.login.flows"]],
  ["a deprecated flow", (card) => (card["securitySchemes"].login.oauth2SecurityScheme.flows = { password: { tokenUrl: "https://id.example/token", scopes: { read: "" } } }),
    ["advice securitySchemes.login.flows.password"]],
  ["OpenID Connect without URL", (card) => (card["securitySchemes"].login = { openIdConnectSecurityScheme: {} }), ["error securitySchemes.login.openIdConnectUrl"]],
  ["a client certificate", (card) => (card["securitySchemes"].login = { mtlsSecurityScheme: {} }), []],
  ["a requirement of an unknown scheme", (card) => (card["securityRequirements"][0] = { schemes: { token: {} } }), ["error securityRequirements[0]"]],
  ["a requirement of a skill of an unknown scheme", (card) => (card["skills"][0].securityRequirements = [{ schemes: { token: {} } }]), ["error skills[0].securityRequirements[0]"]],
  ["schemes without requirements", (card) => delete card["securityRequirements"], ["warning securityRequirements"]],
  ["schemes for a skill alone", (card) => (delete card["securityRequirements"], (card["skills"][0].securityRequirements = [{ schemes: { key: {} } }])), []],
  ["a scope that no flow has", (card) => (card["securityRequirements"][1].schemes.login.list = ["write"]), ["warning securityRequirements[1]"]],
  ["no schemes", (card) => (delete card["securitySchemes"], delete card["securityRequirements"]), ["advice securitySchemes"]],

  ["no list of skills", (card) => delete card["skills"], ["error skills"]],
  ["no skills", (card) => (card["skills"] = []), ["warning skills"]],
  ["a skill without id", (card) => delete card["skills"][0].id, ["error skills[0].id"]],
  ["a skill without name", (card) => delete card["skills"][0].name, ["error skills[0].name"]],
  ["a skill without description", (card) => delete card["skills"][0].description, ["error skills[0].description"]],
  ["a skill without tags", (card) => (card["skills"][0].tags = []), ["warning skills[0].tags"]],
  ["a skill without examples", (card) => delete card["skills"][0].examples, ["advice skills[0].examples"]],
  ["an empty example", (card) => card["skills"][0].examples.push(" "), ["warning skills[0].examples"]],
  ["a long example", (card) => card["skills"][0].examples.push("a".repeat(1001)), ["advice skills[0].examples"]],
  ["a skill with a long description", (card) => (card["skills"][0].description = "a".repeat(1025)), ["advice skills[0].description"]],
  ["a skill with a mode that is none", (card) => (card["skills"][0].outputModes = ["video"]), ["warning skills[0].inputModes"]],
  ["two skills of one id", (card) => card["skills"].push({ ...card["skills"][0], name: "Other" }), ["error skills[1].id"]],
  ["two skills of one name", (card) => card["skills"].push({ ...card["skills"][0], id: "other" }), ["warning skills[1].name"]],

  ["no signature", (card) => delete card["signatures"], ["warning signatures"]],
  ["a signature that cannot be read", (card) => (card["signatures"] = [{ protected: "%", signature: "AQ" }]), ["error signatures[0]"]],
  ["a signature by a shared secret", (card) => (card["signatures"][0] = { protected: encoded({ alg: "HS256", kid: "k" }), signature: "AQ" }), ["error signatures[0]"]],
  ["a signature without key id", (card) => (card["signatures"][0] = { protected: encoded({ alg: "EdDSA" }), signature: "AQ" }), ["error signatures[0]"]],
];

describe("a card with", () => {
  for (const [title, change, expected] of changes) {
    test(title, () => {
      const card = good();
      change(card);
      const found = findings(card);
      assert.deepEqual(told(found), expected);
      for (const { text, fix } of found) {
        assert.match(text, /^[A-Z“`].*[.]$/s, text);
        assert.match(fix, /^[A-Z].*[.)]$/s, fix);
      }
    });
  }
});
