// The project of a test: an agent file around an executor or a tool, and remotes.toml around its remote agents, checked as in any project.
import { createHmac } from "node:crypto";
import { checkTexts } from "../../scripts/lib/checker.mjs";
import { mcpUrl } from "./mcp-servers.js";
import { remoteUrl } from "./remotes.js";
import { toToml } from "./toml.js";

/** The slug of the agent. */
export const SLUG = "test";

/** The kind of its executor, and the name of its tool. */
export const KIND = "tested";

/** The audience of the tokens of its caller. */
const AUDIENCE = "a2a-edge-testing";

/** The variable with the key of these tokens, which is known to everybody. */
const TOKEN_KEY = { name: "A2A_EDGE_TESTING_KEY", value: "the key of the callers of a2a-edge/testing" };

const YEAR_S = 31_536_000;

/** @typedef {{ id?: string, owner?: string, permissions?: readonly string[], session?: string }} GivenCaller */

/**
 * Makes the agents of a project whose one agent has this executor.
 *
 * @param {{ executor: string, caller: GivenCaller | undefined, remotes: readonly string[], mcp: readonly string[], now: number }} project
 *   `executor` is the tables of the agent file about it; `remotes` and `mcp` are names.
 * @returns {object} The checked form.
 * @throws {Error} If the checker refuses the files: the message has its lines.
 */
export function checkedAgents({ executor, caller, remotes, mcp, now }) {
  const agents = remotes.map((name) => serverTable("remote", name, remoteUrl(name)));
  const servers = [...agents, ...mcp.map((name) => serverTable("mcp", name, mcpUrl(name)))];
  const texts = {
    [`agents/${SLUG}.toml`]: [...CARD, ...access(caller), executor].join("\n"),
    ...(servers.length > 0 && { "remotes.toml": servers.join("\n") }),
  };
  return checked(texts, now);
}

/** A table of remotes.toml. @param {"remote" | "mcp"} kind @param {string} name @param {string} url */
const serverTable = (kind, name, url) => `[${kind}.${JSON.stringify(name)}]\nurl = "${url}"\n`;

/** The checked form of files. @param {Record<string, string>} texts By their paths. @param {number} now @returns {object} */
export function checked(texts, now) {
  const { agents, problems } = checkTexts({ texts, joins: true, now });
  if (agents === undefined) throw new Error(problems.map(({ shown }) => shown).join("\n"));
  return agents;
}

const CARD = [
  'name = "Test"', 'description = "The agent of a test."', 'version = "1.0.0"', "default = true", "[capabilities]", "push_notifications = true",
];

/** The tables of an agent file for an executor in TypeScript. @param {Record<string, unknown>} settings */
export function executorTables(settings) {
  const given = Object.entries(settings).filter(([, value]) => value !== undefined);
  const lines = given.map(([key, value]) => `${toToml(key, "a key")} = ${toToml(value, `settings.${key}`)}`);
  return [...SKILL, "[executor]", `kind = "${KIND}"`, `[executor.${KIND}]`, ...lines].join("\n");
}

const SKILL = ["[[skills]]", 'id = "test"', 'name = "Test"', 'description = "What is tested."', 'tags = ["test"]'];

/** The tables of an agent file for a tool in TypeScript. */
export const toolTables = ["[executor]", 'kind = "tools"', "[executor.tools]", `names = ["${KIND}"]`].join("\n");

/** The variables that the access rules of a caller need. */
export const callerVariables = { [TOKEN_KEY.name]: TOKEN_KEY.value };

/** @param {GivenCaller | undefined} caller */
function access(caller) {
  if (caller === undefined) return ["[access]", "open = true", "open_webhooks = true"];
  const { scheme } = namesOf(caller);
  return [
    "[access]",
    ...(caller.owner === undefined || caller.owner === caller.id ? [] : ['share_by = "group"']),
    `[access.schemes.${JSON.stringify(scheme)}]`,
    'kind = "jwt"',
    `audience = ["${AUDIENCE}"]`,
    `secrets = ["${TOKEN_KEY.name}"]`,
    'claims = { id = "sub", session = "session", permissions = ["permissions"] }',
  ];
}

/**
 * The headers by which a caller shows who it is.
 *
 * @param {GivenCaller | undefined} caller @param {number} now
 * @returns {Record<string, string>}
 */
export function credentialsOf(caller, now) {
  if (caller === undefined) return {};
  const { name, group } = namesOf(caller);
  const issued = Math.floor(now / 1000);
  const { permissions = [], session } = caller;
  // JSON leaves out what is undefined.
  const claims = { sub: name, aud: AUDIENCE, iat: issued, exp: issued + YEAR_S, permissions, session, group };
  const encoded = (/** @type {unknown} */ value) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const signed = `${encoded({ alg: "HS256", typ: "JWT" })}.${encoded(claims)}`;
  return { authorization: `Bearer ${signed}.${createHmac("sha256", TOKEN_KEY.value).update(signed).digest("base64url")}` };
}

/** The parts of the ids of a caller. @param {GivenCaller} caller @returns {{ scheme: string, name: string, group?: string | undefined }} */
function namesOf({ id = "test:caller", owner = id }) {
  const [, scheme, name] = /^([^:@]+):(.+)$/s.exec(id) ?? [];
  if (scheme === undefined || name === undefined) {
    throw new TypeError(`caller.id is ${JSON.stringify(id)}: it must be the name of a scheme of [access] and of a caller, such as "key:billing"`);
  }
  if (owner === id) return { scheme, name };
  const [, ofScheme, group] = /^@([^:]+):(.+)$/s.exec(owner) ?? [];
  if (ofScheme === scheme) return { scheme, name, group };
  throw new TypeError(`caller.owner is ${JSON.stringify(owner)}: it must be the caller's id, or a group such as "@${scheme}:team-a"`);
}
