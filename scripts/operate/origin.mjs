// Which server a command asks.
import { ACCESS_VARIABLES, accessHeaders } from "./access.mjs";
import { EXIT, Failure } from "./failure.mjs";

/** Where `npm start` serves. */
const LOCAL = () => `http://localhost:${process.env.PORT || 8787}`;

/** The origin of a server by the URL of the server, of its console or of an agent. */
export function originOf(given) {
  let url;
  try {
    url = new URL(/^[a-z][a-z\d+.-]*:\/\//i.test(given) ? given : `https://${given}`);
  } catch {
    throw new Failure(`"${given}" is no URL; write it as https://agents.example.com.`, EXIT.usage);
  }
  if (!["http:", "https:"].includes(url.protocol)) throw new Failure(`A server is at an https URL, not at one of ${url.protocol}//.`, EXIT.usage);
  if (url.username !== "" || url.password !== "") throw new Failure("A URL has no name and password in it; sign in with a2a-edge login.", EXIT.usage);
  return url.origin;
}

/**
 * The origin to ask: of `--url`, else of A2A_EDGE_URL, else where somebody has signed in last, else on this machine. A key of the environment goes
 * only to a server that is named.
 */
export function chosenOrigin(given, { env = process.env, lastOrigin = () => undefined } = {}) {
  const named = given ?? (env.A2A_EDGE_URL || undefined);
  if (named !== undefined) return originOf(named);
  const secret = env.A2A_EDGE_KEY ? "A2A_EDGE_KEY" : Object.keys(accessHeaders(env)).length > 0 ? ACCESS_VARIABLES[0] : undefined;
  if (secret !== undefined) throw new Failure(`With ${secret}, name the server that gets the key: --url URL, or A2A_EDGE_URL.`, EXIT.usage);
  return lastOrigin() ?? LOCAL();
}

/** True if a key may be sent to an origin: nobody on the way can read it. */
export function mayHaveKey(origin) {
  const { protocol, hostname } = new URL(origin);
  return protocol === "https:" || /^(?:localhost|.*\.localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname);
}

/** @throws {Failure} unless a key may be sent to the origin */
export function requireKeySafe(origin) {
  if (!mayHaveKey(origin))
    throw new Failure(
      `A key is not sent to ${origin}, because everybody on the way can read it: use https. http is for this machine alone.`,
      EXIT.usage,
    );
}
