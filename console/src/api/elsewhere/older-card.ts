// Converts cards of any version to 1.0, and lists the errors of a card that cannot be used.
import { isObject, list, members, readCard, text, type Members } from "../card.ts";
import type { FieldViolation } from "../problem.ts";
import type { AgentCard } from "../types.ts";

/** A parsed card. */
export interface ReadCard {
  card: AgentCard;
  /** The missing or wrong members; empty if the card can be used. */
  violations: FieldViolation[];
}

/** Reads a card of any version. */
export function readAnyCard(json: unknown): ReadCard {
  const card = members(json);
  const version = versionOf(card);
  const upgraded = version === "1.0" ? card : { ...card, ...upgradedMembers(card, version) };
  return { card: readCard(upgraded), violations: violationsOf(card, version) };
}

type CardVersion = "1.0" | "0.3" | "0.1";

/** The version of a card's format. */
function versionOf(card: Members): CardVersion {
  const has = (name: string) => card[name] !== undefined && card[name] !== null;
  if (list(card["supportedInterfaces"]).length > 0 || !has("url")) return "1.0";
  if (MEMBERS_OF_0_3.some(has)) return "0.3";
  // Cards of 0.2 require the modes, as media types.
  const modes = card["defaultInputModes"];
  return has("authentication") || !Array.isArray(modes) || modes.includes("text") ? "0.1" : "0.3";
}

/** Members that only cards of 0.2 and 0.3 have. */
const MEMBERS_OF_0_3 = ["protocolVersion", "preferredTransport", "additionalInterfaces", "securitySchemes", "security", "supportsAuthenticatedExtendedCard"];

/** The members of 1.0 that have another name or structure in older cards. */
function upgradedMembers(card: Members, version: CardVersion): Members {
  const protocolVersion = text(card["protocolVersion"]) || version;
  const main = { url: card["url"], protocolBinding: text(card["preferredTransport"]) || "JSONRPC", protocolVersion };
  const others = list(card["additionalInterfaces"]).map(members).map(({ url, transport }) => ({ url, protocolBinding: transport, protocolVersion }));
  const capabilities = members(card["capabilities"]);
  const isExtended = card["supportsAuthenticatedExtendedCard"] === true || card["supportsExtendedAgentCard"] === true;
  const { schemes, requirements } = accessOf(card);
  return {
    supportedInterfaces: [main, ...others.filter(({ url, protocolBinding }) => url !== main.url || protocolBinding !== main.protocolBinding)],
    capabilities: { ...capabilities, extendedAgentCard: isExtended || capabilities["extendedAgentCard"] === true },
    securitySchemes: schemes,
    securityRequirements: requirements,
    defaultInputModes: modesOf(card["defaultInputModes"]),
    defaultOutputModes: modesOf(card["defaultOutputModes"]),
  };
}

/** The modes as media types; the word `text` of 0.1 becomes `text/plain`. */
function modesOf(json: unknown): unknown[] {
  return list(json).map((mode) => (mode === "text" ? "text/plain" : mode));
}

function accessOf(card: Members): { schemes: Members; requirements: unknown[] } {
  const schemes = Object.fromEntries(Object.entries(members(card["securitySchemes"])).map(([name, scheme]) => [name, upgradedScheme(members(scheme))]));
  if (Array.isArray(card["security"])) {
    const requirements = card["security"].map((one) => ({ schemes: Object.fromEntries(Object.entries(members(one)).map(([name, scopes]) => [name, { list: list(scopes) }])) }));
    return { schemes, requirements };
  }
  // 0.1 lists words; those for HTTP name an authentication scheme.
  const words = list(members(card["authentication"])["schemes"]).filter((word): word is string => typeof word === "string");
  for (const word of words) if (!/^(apikey|cookie)$/i.test(word)) schemes[word] ??= { httpAuthSecurityScheme: { scheme: word } };
  return { schemes, requirements: words.map((word) => ({ schemes: { [word]: { list: [] } } })) };
}

/** A scheme of 0.3, whose type is a member, in the form of 1.0. */
function upgradedScheme(scheme: Members): Members {
  const { type, in: location, ...rest } = scheme;
  const wrapper = KINDS[text(type)];
  return wrapper === undefined ? scheme : { [wrapper]: type === "apiKey" ? { ...rest, location } : rest };
}

const KINDS: Record<string, string> = {
  apiKey: "apiKeySecurityScheme",
  http: "httpAuthSecurityScheme",
  oauth2: "oauth2SecurityScheme",
  openIdConnect: "openIdConnectSecurityScheme",
  mutualTLS: "mtlsSecurityScheme",
};

/** Every member that makes the card unusable; if there is any, also the missing members that its version requires. */
function violationsOf(card: Members, version: CardVersion): FieldViolation[] {
  const found = [
    ...wrongText(card, "name"),
    ...wrongText(card, "version"),
    ...(version === "1.0" ? wrongInterfaces(card) : wrongText(card, "url")),
    ...(isObject(card["capabilities"]) ? [] : [missing(card, "capabilities", "must be an object")]),
    ...wrongSkills(card),
    ...TEXT_LISTS.flatMap((name) => (name in card && card[name] !== null && !Array.isArray(card[name]) ? [{ field: name, description: "must be a list" }] : [])),
    ...("description" in card && card["description"] !== null && typeof card["description"] !== "string" ? [{ field: "description", description: "must be a string" }] : []),
  ];
  const needed = version === "0.1" || found.length === 0 ? [] : NEEDED.filter((name) => !(name in card));
  return [...found, ...needed.map((field) => ({ field, description: "is required" }))];
}

const TEXT_LISTS = ["defaultInputModes", "defaultOutputModes"];

/**
 * Members that a version requires, but without which a card can be used: writers of ProtoJSON leave out empty members.
 */
const NEEDED = ["description", "defaultInputModes", "defaultOutputModes", "skills"];

function wrongInterfaces(card: Members): FieldViolation[] {
  const interfaces = card["supportedInterfaces"];
  if (!Array.isArray(interfaces) || interfaces.length === 0) return [missing(card, "supportedInterfaces", "must be a list with at least one interface")];
  return interfaces.flatMap((one, at) => ["url", "protocolBinding"].flatMap((name) => wrongText(members(one), name, `supportedInterfaces[${at}].`)));
}

function wrongSkills(card: Members): FieldViolation[] {
  const { skills } = card;
  if (skills === undefined || skills === null) return [];
  if (!Array.isArray(skills)) return [{ field: "skills", description: "must be a list" }];
  return skills.flatMap((one, at) => ["id", "name"].flatMap((name) => wrongText(members(one), name, `skills[${at}].`)));
}

function wrongText(of: Members, name: string, before = ""): FieldViolation[] {
  const value = of[name];
  return typeof value === "string" && value !== "" ? [] : [{ ...missing(of, name, "must be a string"), field: before + name }];
}

function missing(of: Members, field: string, description: string): FieldViolation {
  return { field, description: of[field] === undefined || of[field] === null || of[field] === "" ? "is required" : description };
}
