// What differs between the agents of the project and those that run somewhere: agents, cards, access and skills. What runs is read as clients read it.
import { isDeepStrictEqual } from "node:util";
import { EXIT, Failure } from "../operate/failure.mjs";
import { eachOf, Server } from "../operate/server.mjs";
import { clean, cut } from "../operate/text.mjs";
import { list, record, text } from "../operate/values.mjs";
import { accessOf } from "./access.mjs";

/** Who may call an agent. */
const [ANYBODY, KNOWN, NOBODY] = ["anybody", "callers with credentials", "nobody"];

/** The longest sentence about a difference: a server may answer with any number of members and skills. */
const MAX_COLUMNS = 1000;

/** The agents of the project as `differencesOf` needs them. `cards`, if given, are those that the Worker of the project shows, by slug. */
export function ownAgents(facts, cards = {}) {
  const access = accessOf(facts);
  return facts.agents.map(({ slug, default: isDefault = false, development = false, card = "{}", restricted = [], learned }, at) => ({
    slug,
    isDefault,
    development,
    card: cards[slug] ?? record(JSON.parse(card)),
    restricted: restricted.map(({ skill }) => skill),
    learns: learned !== undefined,
    access: access[at].hasSchemes ? KNOWN : access[at].open ? ANYBODY : NOBODY,
  }));
}

/** The agents that a server runs, as `differencesOf` needs them, with the `version` that it runs. With a key for an agent, also the skills that the key may use. */
export async function runningAgents(server) {
  const { agents, version, isDevelopment } = await server.listing();
  const running = await eachOf(agents, async (agent) => {
    const { slug, isDefault, isOpen } = agent;
    const card = record(await cardAt(server, slug));
    const hasSchemes = Object.keys(record(record(agent.access).securitySchemes)).length > 0;
    return { slug, isDefault: isDefault === true, card, extended: await extendedAt(server, agent), access: isOpen === true ? ANYBODY : hasSchemes ? KNOWN : NOBODY };
  });
  return { version, isDevelopment, agents: running };
}

/** The public cards of the agents as the Worker of the project shows them at a URL, by slug: with the skills of tools that its code registers. */
export async function cardsOf({ agents }, url) {
  const server = new Server(url);
  return Object.fromEntries(await eachOf(agents, async ({ slug }) => [slug, await cardAt(server, slug)]));
}

/** The public card of an agent. */
const cardAt = (server, slug) => server.json({ path: `/${slug}/.well-known/agent-card.json` });

/** The skills that the key of an agent may use; undefined without a key, and where the agent does not tell them. */
async function extendedAt(server, agent) {
  if (!server.hasKey(agent.slug) || record(agent.capabilities).extendedAgentCard !== true) return undefined;
  try {
    return skillsOf(record(await server.json({ agent, path: `/${agent.slug}/extendedAgentCard` })));
  } catch (error) {
    if (error instanceof Failure && [EXIT.notSignedIn, EXIT.refused, EXIT.notFound].includes(error.exit)) return undefined;
    throw error;
  }
}

/**
 * What differs, a sentence each with the agent that it is about: `{ agent, kind, text }`. A server of development also serves the agents of development,
 * and lets anybody call an agent that does not say who may.
 */
export function differencesOf(own, { agents: running, isDevelopment }) {
  const deployed = own.filter(({ development }) => isDevelopment || !development);
  const differs = [];
  for (const agent of deployed) {
    const { slug } = agent;
    const there = running.find((other) => other.slug === slug);
    const tell = (kind, text) => differs.push({ agent: slug, kind, text: cut(text, MAX_COLUMNS) });
    if (there === undefined) {
      tell("added", `${slug} is new: it does not run there`);
      continue;
    }
    const access = isDevelopment && agent.access === NOBODY ? ANYBODY : agent.access;
    if (access !== there.access) tell("access", `${slug}: ${there.access} may call what runs, and ${access} what is in the project`);
    if (agent.isDefault !== there.isDefault) tell("default", `${slug} ${agent.isDefault ? "becomes" : "is no longer"} the default agent`);
    const members = membersOf(agent.card, there.card);
    if (members.length > 0) tell("card", `${slug}: the card differs in ${members.join(", ")}`);
    const skills = skillsBetween(agent, there);
    if (skills !== "") tell("skills", `${slug}: skills ${skills}`);
  }
  for (const { slug } of running) {
    if (!deployed.some((agent) => agent.slug === slug)) differs.push({ agent: slug, kind: "removed", text: `${clean(slug)} goes: it runs there, and the project ${own.some((agent) => agent.slug === slug) ? "does not deploy it (development = true)" : "does not have it"}` });
  }
  return differs;
}

/** The members in which two cards differ, but for skills. A short text is told with both values. Signatures belong to a deployment. */
function membersOf(own, running) {
  const [one, other] = [own, running].map(withoutOrigin);
  const names = [...new Set([...Object.keys(one), ...Object.keys(other)])].filter((name) => !["skills", "signatures"].includes(name));
  const isShort = (value) => value === undefined || (typeof value === "string" && value.length <= 40);
  return names.filter((name) => !isDeepStrictEqual(one[name], other[name])).map((name) => {
    const values = [other[name], one[name]];
    return values.every(isShort) ? clean(`${name} (${values.map((value) => value ?? "none").join(" → ")})`) : clean(name);
  });
}

/** A card with a placeholder in the place of its origin, which is that of the server or of PUBLIC_URL. */
function withoutOrigin(card) {
  const [first] = list(card.supportedInterfaces).map((one) => text(record(one).url)).filter(Boolean);
  const origin = /^(?:\{origin\}|https?:\/\/[^/]+)/.exec(first ?? "")?.[0];
  const replaced = (value) => {
    if (typeof value === "string") return origin !== undefined && (value === origin || value.startsWith(`${origin}/`)) ? `{origin}${value.slice(origin.length)}` : value;
    if (Array.isArray(value)) return value.map(replaced);
    return typeof value === "object" && value !== null ? Object.fromEntries(Object.entries(value).map(([name, member]) => [name, replaced(member)])) : value;
  };
  return replaced(card);
}

const skillsOf = (card) => list(card.skills).map(record).filter(({ id }) => text(id) !== undefined);

/** The skills that are added (+), removed (-) and changed (~, with the members), in one text. What is learned from other servers is not in the project. */
function skillsBetween({ card, restricted, learns }, { card: there, extended }) {
  const shown = skillsOf(card);
  const known = [...shown, ...restricted];
  const running = extended ?? skillsOf(there);
  const find = (skills, id) => skills.find((skill) => skill.id === id);
  const changed = running.flatMap((skill) => {
    const own = find(known, skill.id);
    const names = own === undefined ? [] : [...new Set([...Object.keys(own), ...Object.keys(skill)])].filter((name) => !isDeepStrictEqual(own[name], skill[name]));
    return names.length === 0 ? [] : [`~${skill.id} (${names.join(", ")})`];
  });
  const added = shown.filter(({ id }) => find(running, id) === undefined).map(({ id }) => `+${id}`);
  const removed = learns ? [] : running.filter(({ id }) => find(extended === undefined ? shown : known, id) === undefined).map(({ id }) => `-${id}`);
  return clean([...added, ...removed, ...changed].join(" "));
}

/** The text about differences, for people. */
export function differencesText(differs, origin, version, own) {
  const runs = version === undefined ? "" : `, which runs a2a-edge ${clean(version)}${version === own ? "" : ` (the project has ${own})`}`;
  if (differs.length === 0) return `Nothing differs from ${origin}${runs}: agents, cards, access and skills are the same.`;
  return `Different from ${origin}${runs}:\n\n${differs.map(({ text }) => `    ${text}`).join("\n")}`;
}
