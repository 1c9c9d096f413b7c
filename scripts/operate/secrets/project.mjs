// What the commands about secrets know of the project in the current folder.
import { factsOf, shownProblems } from "../../lib/agents.mjs";
import { check } from "../../lib/checker.mjs";
import { mayRegister } from "../../lib/entry.mjs";
import { projectDir } from "../../lib/paths.mjs";
import { readConfig } from "../../lib/wrangler.mjs";
import { EXIT, Failure } from "../failure.mjs";
import { originOf } from "../origin.mjs";
import { Server } from "../server.mjs";
import { list, record, text } from "../values.mjs";
import { catalogueOf } from "./catalogue.mjs";

/** The secrets of the project's agents, and those of the Worker. */
export function readCatalogue(isLocal) {
  const { agents, problems } = check({ folder: projectDir, joins: mayRegister() });
  if (agents === undefined) throw new Failure(shownProblems(problems));
  return catalogueOf(factsOf(agents), { isLocal });
}

/**
 * The keys that a server publishes, as JWKs, the one that signs notifications first; undefined if no server is known. `given` is a URL, in place of
 * the variable PUBLIC_URL.
 */
export async function publishedKeys(given, environment) {
  const named = given ?? ((await readConfig(environment)).vars ?? {}).PUBLIC_URL;
  if (typeof named !== "string" || named === "") return undefined;
  try {
    const answer = record(await new Server(originOf(named)).json({ path: "/.well-known/jwks.json" }));
    return list(answer.keys).map(record);
  } catch (error) {
    // A server without a key has no such path.
    if (error instanceof Failure && error.exit === EXIT.notFound) return [];
    throw error;
  }
}

/** @throws {Failure} unless each of these private keys is one of those that are published */
export function requirePublished(keys, published) {
  const known = new Set(published.map(({ x }) => text(x)));
  if (keys.some((key) => !known.has(record(JSON.parse(key)).x))) {
    throw new Failure("The key that was given is not the one that the server publishes at /.well-known/jwks.json, so nothing was changed. Give the present value of SIGNING_JWK.");
  }
}
