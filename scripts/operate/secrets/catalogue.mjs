// The secrets that the agents of a project and the Worker itself use: what each is for, which form it has, and how it is replaced.
import { deployedOf, needsOf } from "../../lib/needs.mjs";

/**
 * What a secret is. `caller`: shown by callers, as a key, a token or a password. `shared`: signs the tokens of callers (HS256). `request`: signs the requests
 * to an agent of kind `http`. `signing`, `state`: keys of the Worker. `other`: made by somebody else, or a variable.
 *
 * @typedef {"caller" | "shared" | "request" | "signing" | "state" | "other"} Kind
 *
 * `second` is another name that is accepted wherever this one is; `alone` names the places that accept no other one. A former name is listed where it is set.
 * @typedef {{ name: string, kind: Kind, uses: string[], second?: string, alone: string[], isOptional: boolean, isFormer?: boolean }} Entry
 */

/** The secrets that the Worker itself reads (src/edge/bindings.rs). */
const OF_WORKER = [
  { name: "SIGNING_JWK", kind: "signing", uses: ["signs cards, and the JWTs of notifications"] },
  { name: "WEBHOOK_JWK", kind: "other", uses: ["the former name of SIGNING_JWK, read where that is not set"], isFormer: true },
  { name: "STATE_KEY", kind: "state", uses: ["encrypts the credentials that tasks ask for"] },
  { name: "OTLP_HEADERS", kind: "other", uses: ["headers for the receiver of traces"] },
];

/**
 * The entries for the facts of a project, by their names. With `isLocal` also those of agents that no deployment serves.
 *
 * @returns {Entry[]}
 */
export function catalogueOf(facts, { isLocal = false } = {}) {
  const served = isLocal ? facts : deployedOf(facts);
  const places = served.agents.flatMap(placesOf);
  const signed = new Set(served.agents.flatMap(signingSecretOf));
  const names = new Set(places.flatMap(({ secrets }) => secrets));
  const entries = [...names].map((name) => {
    const own = places.filter(({ secrets }) => secrets.includes(name));
    const [first = [], ...rest] = own.map(({ secrets }) => secrets.filter((other) => other !== name));
    const second = first.find((other) => rest.every((others) => others.includes(other)));
    const alone = own.filter(({ secrets }) => secrets.length === 1).map(({ use }) => use);
    const kind = own.some((place) => place.kind === "shared") ? "shared" : "caller";
    return { name, kind, uses: own.map(({ use }) => use), second, alone, isOptional: own.every(({ secrets }) => secrets[0] !== name) };
  });
  // What schemes need is told by their lists.
  for (const { name, by: uses } of needsOf(served).filter(({ name }) => !names.has(name))) {
    entries.push({ name, kind: signed.has(name) ? "request" : "other", uses, alone: [], isOptional: false });
  }
  const own = OF_WORKER.map((entry) => ({ ...entry, alone: [], isOptional: true }));
  return [...entries, ...own].sort((one, other) => (one.name < other.name ? -1 : 1));
}

/** The lists of secrets of an agent's schemes: any secret of a list is accepted. */
function placesOf({ slug, access }) {
  return Object.entries(access?.schemes ?? {}).flatMap(([scheme, { kind, callers = [], secrets = [] }]) => [
    ...callers.map(({ id, secrets }) => ({ kind: "caller", secrets, use: `caller ${id} of the agent ${slug} (${kind}, scheme ${scheme})` })),
    ...(secrets.length === 0 ? [] : [{ kind: "shared", secrets, use: `signs tokens for the agent ${slug} (HS256, scheme ${scheme})` }]),
  ]);
}

/** The name of the secret with which requests to an agent are signed, if there is one. */
const signingSecretOf = ({ executor }) => /^\$\{([A-Z0-9_]+)\}$/.exec(executor?.table?.signing_secret ?? "")?.[1] ?? [];
