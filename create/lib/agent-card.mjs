// Agent cards of other servers: fetches a card, and makes an agent file from it.
import { Stop } from "./terminal.mjs";

const MAX_BYTES = 1 << 20;
const TIMEOUT_MS = 10_000;
const WELL_KNOWN = [".well-known/agent-card.json", ".well-known/agent.json"];

/** The largest number of a card's examples that become rules. */
const MAX_RULES = 20;

/** The names that are not allowed for agent files (`crates/agents/src/slug.rs`); a test compares the lists. */
export const RESERVED = [
  "_dev", "a2a", "agent", "agents", "assets", "callbacks", "card", "console", "extended-agent-card", "health", "mcp", "message", "metrics",
  "subscribe", "tasks", "v1",
];

/**
 * Fetches an agent card: at the URL, unless that is only an origin, then at the well-known places below it. Returns the
 * card and its URL. Throws a `Stop` that lists the result at each place.
 */
export async function fetchCard(given) {
  let url;
  try {
    url = new URL(given);
  } catch {
    throw new Stop(`--from-card needs the URL of an agent card, or of a server that has one, got "${given}".`);
  }
  if (!["http:", "https:"].includes(url.protocol)) throw new Stop(`An agent card is fetched by http or https, not by "${url.protocol}".`);
  const below = url.href.replace(/[?#].*$/, "").replace(/\/*$/, "/");
  const places = [...(url.pathname === "/" ? [] : [url.href]), ...WELL_KNOWN.map((path) => below + path)];
  const found = [];
  for (const place of places) {
    const answer = await readCard(place);
    if (answer.card) return { url: place, card: answer.card };
    found.push(`    ${place}: ${answer.problem}`);
  }
  throw new Stop(`There is no agent card:\n\n${found.join("\n")}`);
}

async function readCard(url) {
  let text = "";
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS), headers: { accept: "application/json" } });
    if (!answer.ok) return { problem: `status ${answer.status}` };
    const decoder = new TextDecoder();
    for await (const chunk of answer.body ?? []) {
      text += decoder.decode(chunk, { stream: true });
      if (text.length > MAX_BYTES) return { problem: `larger than ${MAX_BYTES} bytes` };
    }
  } catch (error) {
    return { problem: error.cause?.message || error.cause?.code || error.message };
  }
  let card;
  try {
    card = JSON.parse(text);
  } catch {
    return { problem: "not JSON" };
  }
  const problem = problemOf(card);
  return problem ? { problem } : { card };
}

/** The reason why a value is not an agent card; undefined for a card of any version of the protocol. */
function problemOf(card) {
  if (typeof card !== "object" || card === null || Array.isArray(card)) return "JSON, but no object";
  if (!isText(card.name)) return "no agent card: it has no name";
  if (!Array.isArray(card.skills)) return "no agent card: it has no skills";
  return undefined;
}

/** The name of the agent file for a card, different from the names `taken`. */
export function slugOf(card, taken) {
  const words = card.name.normalize("NFKD").toLowerCase().replace(/\p{M}/gu, "").replace(/[^a-z0-9]+/g, "-");
  const slug = words.replace(/^[^a-z]+/, "").slice(0, 50).replace(/-+$/, "") || "imported";
  return [slug, `${slug}-agent`, ...taken.map((_, index) => `${slug}-${index + 2}`)]
    .find((name) => !RESERVED.includes(name) && !taken.includes(name));
}

/**
 * An agent file with the contents of a card of A2A 1.0 or older. It answers by rules: one for each example of a skill,
 * and one for all other messages. Returns the text, and the members of the card that are left out.
 */
export function agentFile(card, url) {
  const provider = card.provider ?? {};
  const capabilities = card.capabilities ?? {};
  const skills = skillsOf(card);
  const head = [
    `# From ${new URL(url).href}: what it is called and can do. What it answers are rules to begin with: replace them.`,
    line("name", card.name),
    line("description", isText(card.description) ? card.description : card.name),
    line("version", isText(card.version) ? card.version : "1.0.0"),
    isUrl(card.documentationUrl) && line("documentation_url", card.documentationUrl),
    isUrl(card.iconUrl) && line("icon_url", card.iconUrl),
    modes("input_modes", card.defaultInputModes),
    modes("output_modes", card.defaultOutputModes),
    isText(provider.organization) && isUrl(provider.url) && `provider = { organization = ${quoted(provider.organization)}, url = ${quoted(provider.url)} }`,
  ];
  const declared = [
    capabilities.streaming === false && "streaming = false",
    capabilities.pushNotifications === true && "push_notifications = true",
  ].filter(Boolean);
  const blocks = [
    head, declared.length > 0 && ["[capabilities]", ...declared], ...skills.map(skillBlock), ["[executor]", 'kind = "script"'], ...rules(skills),
  ];
  const text = blocks.filter(Boolean).map((block) => `${block.filter(Boolean).join("\n")}\n`).join("\n");
  const left = [
    (capabilities.extensions ?? []).length > 0 && "extensions",
    hasMembers(card.securitySchemes) && "security schemes",
    (card.supportsAuthenticatedExtendedCard || capabilities.extendedAgentCard) && "the extended card",
  ];
  return { text, left: left.filter(Boolean) };
}

/** A test for the agent that was made from a card, which answers by the rules at first. */
export function agentTest(slug, card) {
  const [example] = skillsOf(card).flatMap(({ examples }) => examples);
  const asked = JSON.stringify(example ?? "hello");
  return `// Calls the agent ${slug} of the Worker at A2A_EDGE_URL, which \`npm test\` serves.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { Role, TaskState } from "@a2a-js/sdk";
import { ClientFactory } from "@a2a-js/sdk/client";

test("${slug} answers", async () => {
  const client = await new ClientFactory().createFromUrl(process.env.A2A_EDGE_URL, "/${slug}/.well-known/agent-card.json");
  const parts = [{ content: { $case: "text", value: ${asked} } }];
  const task = await client.sendMessage({ message: { messageId: randomUUID(), role: Role.ROLE_USER, parts } });
  assert.equal(task.status.state, TaskState.TASK_STATE_COMPLETED);
});
`;
}

function skillsOf(card) {
  const ids = new Set();
  return card.skills.filter((skill) => skill && (isText(skill.id) || isText(skill.name))).map((skill) => {
    const wanted = isText(skill.id) ? skill.id : skill.name;
    let id = wanted;
    for (let number = 2; ids.has(id); number += 1) id = `${wanted}-${number}`;
    ids.add(id);
    return { ...skill, id, name: isText(skill.name) ? skill.name : wanted, examples: texts(skill.examples), tags: texts(skill.tags) };
  });
}

function skillBlock(skill) {
  return [
    "[[skills]]",
    line("id", skill.id),
    line("name", skill.name),
    line("description", isText(skill.description) ? skill.description : skill.name),
    `tags = ${list(skill.tags)}`,
    skill.examples.length > 0 && `examples = ${list(skill.examples)}`,
    modes("input_modes", skill.inputModes),
    modes("output_modes", skill.outputModes),
  ];
}

function rules(skills) {
  const asked = new Map(skills.flatMap(({ name, examples }) => examples.map((example) => [example, name])));
  const answered = [...asked].slice(0, MAX_RULES).map(([example, name]) => [
    "[[executor.script.rules]]",
    `when = { text = ${quoted(example)} }`,
    "then = [",
    '  { do = "working" },',
    `  { do = "artifact", id = "answer", text = ${quoted(`Here comes what ${plain(name)} answers to: {text}`)} },`,
    '  { do = "complete" },',
    "]",
  ]);
  const names = skills.map(({ name }) => plain(name)).join(", ");
  const rest = names === "" ? "I got: {text}" : `I got: {text}\nI can do: ${names}.`;
  return [...answered, ["[[executor.script.rules]]", `then = [{ do = "complete", text = ${quoted(rest)} }]`]];
}

/** A text without placeholders for templates. */
const plain = (text) => text.replace(/[{}]/g, "$&$&");

/** The media types of a list; the first versions of cards contained words in their place. */
function modes(key, given) {
  const words = { text: "text/plain", data: "application/json", file: "application/octet-stream" };
  const types = texts(given).map((mode) => words[mode] ?? mode).filter((mode) => mode.includes("/"));
  return types.length > 0 && `${key} = ${list([...new Set(types)])}`;
}

const line = (key, text) => `${key} = ${quoted(text)}`;
const list = (items) => `[${items.map(quoted).join(", ")}]`;

/** A string of TOML: like in JSON, but without DEL and surrogate halves. */
const quoted = (text) => JSON.stringify(text.replace(/\p{Cs}/gu, "\ufffd")).replace(/\u007f/g, "\\u007f");

const isText = (value) => typeof value === "string" && value.trim() !== "";
const texts = (value) => (Array.isArray(value) ? [...new Set(value.filter(isText))] : []);
const isUrl = (value) => isText(value) && /^https?:\/\//.test(value);
const hasMembers = (value) => typeof value === "object" && value !== null && Object.keys(value).length > 0;
