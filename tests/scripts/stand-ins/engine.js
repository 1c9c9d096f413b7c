// In the place of the engine of the package.
import "./index_bg.wasm";
import { DurableObject } from "cloudflare:workers";
import { answer, state } from "./answer.js";

export class TaskObject extends DurableObject {}

export const bridge = {};

export function start(agents, functions) {
  state.served = agents;
  state.tools = JSON.parse(functions?.describe() ?? '{"tools":[]}').tools;
  return { fetch: (request, env) => answer(request, env), queue() {}, scheduled() {} };
}
