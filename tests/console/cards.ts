// A card about which there is nothing to say, for tests that change it, and what is said then.

import { lint, type Finding, type Found } from "../../console/src/lint/index.ts";

/** Where the good card is found. */
export const AT = "https://agents.example/invoices/.well-known/agent-card.json";
/** Where its agent is called. */
export const RPC = "https://agents.example/invoices";
/** A protected header. */
export const encoded = (json: object) => Buffer.from(JSON.stringify(json)).toString("base64url");
const SIGNATURE = { protected: encoded({ alg: "ES256", kid: "k-1" }), signature: "AQ" };

/** A card as JSON, which may be anything. */
export type Json = Record<string, any>;

/** A card about which there is nothing to say. */
export const good = (): Json => ({
  name: "Invoices",
  description: "Reads invoices.",
  version: "1.0.0",
  supportedInterfaces: [
    { url: RPC, protocolBinding: "JSONRPC", protocolVersion: "1.0" },
    { url: RPC, protocolBinding: "JSONRPC", protocolVersion: "0.3" },
  ],
  provider: { organization: "Example", url: "https://example.com" },
  capabilities: { streaming: true, pushNotifications: false, extendedAgentCard: false },
  securitySchemes: {
    key: { apiKeySecurityScheme: { location: "header", name: "X-Key" } },
    login: { oauth2SecurityScheme: { flows: { clientCredentials: { tokenUrl: "https://id.example/token", scopes: { read: "Reads." } } } } },
  },
  securityRequirements: [{ schemes: { key: {} } }, { schemes: { login: { list: ["read"] } } }],
  defaultInputModes: ["text/plain"],
  defaultOutputModes: ["text/plain", "application/json"],
  skills: [{ id: "sum", name: "Sum", description: "Adds up.", tags: ["invoices"], examples: ["What is the total?"] }],
  signatures: [SIGNATURE],
});

/** What is said about a card. */
export function findings(card: Json, more: Partial<Found> = {}): Finding[] {
  return lint({ card: card as unknown as Found["card"], text: JSON.stringify(card), foundAt: AT, isLocal: false, ...more });
}

/** Each finding as `severity about`. */
export const told = (found: Finding[]) => found.map(({ severity, about }) => `${severity} ${about}`);
