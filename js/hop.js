// One request, from its first byte to its answer. Everything that waits on the usual path waits here; Rust decides in
// between, without waiting (src/edge/front/plan.rs). A Rust future, and each crossing into WebAssembly, costs more than
// all that is decided.
import * as rust from "../../../index.js";
import { open } from "./stream.js";

// Bindings: the task objects, and the index of tasks. src/edge/bindings.rs has the names of all.
const TASKS = "TASKS";
const DB = "DB";

/** What stands between the lines of a listing (src/edge/service/index/listing.rs). */
const LINE_END = "\u001e";

/** Bodies of up to this many bytes are received in one piece; larger ones are Rust's to receive (src/edge/front/body.rs). */
const SMALL_BYTES = 64 * 1024;

/** Answers a request; the response is a promise, which is never rejected. */
export async function serve(request, env) {
  try {
    const head = headOf(request);
    let body;
    let isBroken = false;
    if (request.body === null) {
      body = new Uint8Array(0);
    } else {
      const length = Number(request.headers.get("content-length") ?? Infinity);
      if (length <= SMALL_BYTES) {
        body = await bytesOf(request);
        // The body of a request that was aborted may just end.
        isBroken = body?.length !== length;
      }
    }
    const plan = rust.plan(env, head, body, isBroken);
    const line = plan.indexOf("\n");
    switch (plan[0]) {
      case "=":
        return respond(plan.slice(1));
      case "n":
      case "i":
      case "k":
        return await ask(env, request, head, body, plan.slice(0, line), plan.slice(line + 1));
      case "l":
        return await list(env, request, head, body, plan.slice(1));
      case "s":
        return await follow(env, head, body, plan.slice(1, line), plan.slice(line + 1));
      default:
        return await rust.carryOut(env, request, head, body);
    }
  } catch (error) {
    console.error(error?.stack ?? String(error));
    return new Response("INTERNAL SERVER ERROR", { status: 500 });
  }
}

/** All but the body, as src/edge/front/head.rs reads it. */
function headOf(request) {
  names ??= rust.headerNames().split("\n");
  const { headers } = request;
  let head = `${request.method}\n${request.url}`;
  for (const name of names) {
    const value = headers.get(name);
    if (value !== null) head += `\n${name}\n${value}`;
  }
  return head;
}

let names;

async function bytesOf(request) {
  try {
    return new Uint8Array(await request.arrayBuffer());
  } catch {
    return undefined;
  }
}

/** Asks the object of a task for the answer to a call. */
async function ask(env, request, head, body, address, command) {
  const namespace = env[TASKS];
  let id;
  try {
    id = idOf(namespace, address);
  } catch (error) {
    // The namespace knows its own ids.
    return respond(rust.failed(env, head, body, 404, String(error)));
  }
  let answer;
  try {
    answer = await namespace.get(id).ask(address === "n" ? "begin" : "call", command);
  } catch (error) {
    // An object of a version that cannot be asked like this has done nothing.
    if (isUnknownMethod(error)) return rust.carryOut(env, request, head, body);
    return respond(rust.failed(env, head, body, 0, String(error)));
  }
  // A status of 500 and more says that the object has no answer for the client.
  if (answer[0] === "5") return respond(rust.failed(env, head, body, Number(answer.slice(0, 3)), ""));
  return respond(answer);
}

/** Lets D1 list tasks. */
async function list(env, request, head, body, statement) {
  const [sql, ...values] = JSON.parse(statement);
  let found;
  try {
    found = await env[DB].prepare(sql).bind(...values).all();
  } catch {
    // It may lack a column still, or be down.
    return rust.carryOut(env, request, head, body);
  }
  const lines = found.results.map(({ line }) => line).join(LINE_END);
  const answer = rust.listed(env, head, body, lines, found.results[0]?.total, found.meta.rows_read);
  return answer === "~" ? rust.carryOut(env, request, head, body) : respond(answer);
}

/** Opens a stream from the object of a task. */
async function follow(env, head, body, address, plan) {
  const namespace = env[TASKS];
  let id;
  try {
    id = idOf(namespace, address);
  } catch (error) {
    return respond(rust.failed(env, head, body, 404, String(error)));
  }
  return open(namespace, String(id), plan, rust);
}

function idOf(namespace, address) {
  if (address === "n") return namespace.newUniqueId();
  return address[0] === "i" ? namespace.idFromString(address.slice(1)) : namespace.idFromName(JSON.parse(address.slice(1)));
}

function isUnknownMethod(error) {
  return error instanceof TypeError && /RPC/.test(error.message) && error.remote !== true;
}

/** The response that a text of src/edge/answer.rs stands for. */
export function respond(text) {
  const end = text.indexOf("\n\n");
  const body = text.slice(end + 2);
  return new Response(body === "" ? null : body, initOf(text.slice(0, end)));
}

/** What responses of this head are made with. Few heads differ, and making headers costs more than finding them. */
function initOf(head) {
  let init = inits.get(head);
  if (init === undefined) {
    const [status, ...lines] = head.split("\n");
    const headers = new Headers();
    for (const line of [...rust.commonHeaders().trim().split("\n"), ...lines]) {
      const colon = line.indexOf(": ");
      headers.set(line.slice(0, colon), line.slice(colon + 2));
    }
    init = { status: Number(status), headers };
    if (inits.size >= MAX_INITS) inits.clear();
    inits.set(head, init);
  }
  return init;
}

const inits = new Map();

const MAX_INITS = 200;
