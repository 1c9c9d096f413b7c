// The front in development: `start`, `dev` and tests put it before the Worker, no deployment contains it. It records requests for agents,
// carries out the faults of scripted agents, answers requests for the scripted model, forwards requests of the console to agents elsewhere, has the
// server killed for the page that shows what becomes of a task then, and passes every other request to the Worker unchanged. Each body is read to its end, whatever answers.
import { answerAfterBody } from "./body.js";
import { Doubles } from "./double.js";
import { answerWith } from "./fault.js";
import { forward } from "./forward.js";
import { kill } from "./kill.js";
import { complete } from "./model/index.js";
import { readAsked } from "./operation.js";
import { answer as answerReceived, note } from "./received.js";

/** Bodies of up to this many bytes are read. */
const LOOKED_AT_BYTES = 64 * 1024;

/** @typedef {{ DEVELOPMENT?: string, DEV_KILL_URL?: string }} Env */

/** @typedef {{ fetch(request: Request, env: any, context: any): Promise<Response> }} Product */

/** @type {Doubles | undefined} */
let doubles;

/**
 * The event handlers of a Worker, behind the front of development.
 *
 * @template {Product} Handlers
 * @param {Handlers} product
 * @returns {Handlers}
 */
export function development(product) {
  return {
    ...product,
    fetch(/** @type {Request} */ request, /** @type {Env} */ env, /** @type {unknown} */ context) {
      const pass = (/** @type {Request} */ passed) => product.fetch(passed, env, context);
      return env.DEVELOPMENT === "true" ? answerAfterBody(request, (passed) => answer(passed, env, pass)) : pass(request);
    },
  };
}

/** @param {Request} request @param {Env} env @param {(request: Request) => Promise<Response>} pass @returns {Promise<Response>} */
async function answer(request, env, pass) {
  const { origin, pathname } = new URL(request.url);
  doubles ??= new Doubles((path) => pass(new Request(origin + path)));
  if (pathname === "/_dev/received") return answerReceived(request);
  if (pathname === "/_dev/forward") return forward(request);
  if (pathname === "/_dev/kill") return kill(request, env);
  if (pathname.startsWith("/_dev/model/")) return complete(request);
  const scripted = /^\/_dev\/script\/([^/]+)$/.exec(pathname)?.[1];
  if (scripted !== undefined) {
    const told = await pass(request);
    if (told.ok && ["POST", "DELETE"].includes(request.method)) await doubles.set(scripted, /** @type {{}} */ (await told.clone().json()));
    return told;
  }
  const couldAsk = request.method !== "OPTIONS" && readAsked(request.method, pathname, undefined) !== undefined;
  if (!couldAsk) return pass(request);
  const body = await smallBody(request);
  const asked = readAsked(request.method, pathname, body);
  if (asked === undefined) return pass(request);
  const { agent, fault } = await doubles.take(asked, body ?? "");
  note(request, { ...asked, agent }, fault);
  return fault === undefined ? pass(request) : answerWith(fault, origin, () => pass(request));
}

/** The text of a small body; undefined for any other body. @param {Request} request */
async function smallBody(request) {
  const length = Number(request.headers.get("content-length") ?? NaN);
  if (request.body === null || !(length <= LOOKED_AT_BYTES)) return undefined;
  try {
    return await request.clone().text();
  } catch {
    // The Worker itself refuses a body that breaks off.
    return undefined;
  }
}
