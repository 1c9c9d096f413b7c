// Agent cards of other servers, for tests of what is made of them.
import { once } from "node:events";
import { createServer } from "node:http";

/** A card of A2A 0.3, with texts that mean something in an agent file or in a rule. */
export const OLD_CARD = {
  protocolVersion: "0.3.0",
  name: "Câfé \"Zoë\"\n[executor]",
  description: "Brews {text}, '''quotes''' and back\\slashes\u007f.",
  url: "https://cafe.example/a2a",
  version: "2.1",
  provider: { organization: "Café", url: "https://cafe.example" },
  documentationUrl: "https://cafe.example/docs",
  iconUrl: "javascript:alert(1)",
  capabilities: { streaming: false, pushNotifications: true, extensions: [{ uri: "https://x.example/ext" }] },
  securitySchemes: { key: { type: "apiKey", in: "header", name: "X-Key" } },
  supportsAuthenticatedExtendedCard: true,
  defaultInputModes: ["text", "text/plain"],
  defaultOutputModes: ["text", "data"],
  skills: [
    { id: "brew", name: "Brew {strong}", description: "Brews.", tags: ["coffee"], examples: ["an espresso", "two {large} lattes", "an espresso"] },
    { id: "brew", name: "Brew again", description: "", tags: [], examples: ["an espresso"], inputModes: ["audio/wav"] },
    { nothing: true },
  ],
};

/** A card of A2A 1.0. */
export const CARD = {
  name: "Weather",
  description: "Tells the weather.",
  version: "1.0.0",
  supportedInterfaces: [{ url: "https://weather.example", protocolBinding: "JSONRPC", protocolVersion: "1.0" }],
  capabilities: { streaming: true },
  defaultInputModes: ["text/plain"],
  defaultOutputModes: ["text/plain"],
  skills: [{ id: "today", name: "Today", description: "The weather of today.", tags: ["weather"], examples: ["Lisbon"] }],
};

/** Serves answers by path while `work` runs with the origin: an object as JSON, a text as it is, a number as a status. */
export async function serving(answers, work) {
  const server = createServer((request, response) => {
    const answer = answers[request.url] ?? 404;
    if (typeof answer === "number") response.statusCode = answer;
    response.end(typeof answer === "object" ? JSON.stringify(answer) : typeof answer === "string" ? answer : undefined);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  try {
    return await work(`http://127.0.0.1:${server.address().port}`);
  } finally {
    server.close();
    server.closeAllConnections();
  }
}
