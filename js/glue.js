// The JavaScript functions that Rust calls. This module passes Rust's functions to `Hop`. wasm-bindgen writes these
// functions into `index.js`, next to the folder of the modules.
import {
  commonHeaders, headerNames, indexSchema, listed, observes, plan, requestAnswered, streamEvent, streamOpening, streamRefusal, streamTrouble, traceHead, visit, wait,
} from "../../../index.js";
import { whenRenewed } from "./agents.js";
import { Hop } from "./hop.js";
import { runInShard } from "./index-shard.js";
import { nameRequest } from "./traces.js";

/** As in Rust, and names the request for the platform. @type {typeof requestAnswered} */
const answered = (env, head, subject, ...rest) => {
  nameRequest(subject);
  requestAnswered(env, head, subject, ...rest);
};

const rust = {
  commonHeaders, headerNames, listed, observes, plan, requestAnswered: answered, streamEvent, streamOpening, streamRefusal, streamTrouble, traceHead, visit, wait,
};

let hop = new Hop(rust);

/** Like `Hop.serve` in `hop.js`. */
export function serve(request, env) {
  return hop.serve(request, env);
}

/** Like `Hop.answer` in `hop.js`. */
export function answerWaiting(env, waiting) {
  return hop.answer(env, waiting);
}

/** Like `runInShard` in `index-shard.js`. */
export function runIndex(state, env, request) {
  return runInShard(state, env, request, indexSchema);
}

// A hop keeps what it has read of the agents.
whenRenewed(() => {
  hop = new Hop(rust);
});

export { refusing } from "./hop.js";
