// The functions that Rust calls, connected to the functions of Rust that they call. wasm-bindgen writes `index.js`,
// next to the folder of these files.
import {
  commonHeaders, headerNames, listed, plan, streamEvent, streamOpening, streamRefusal, streamTrouble, visit, wait,
} from "../../../index.js";
import { Hop } from "./hop.js";

const hop = new Hop({ commonHeaders, headerNames, listed, plan, streamEvent, streamOpening, streamRefusal, streamTrouble, visit, wait });

/** Like `Hop.serve` in `hop.js`. */
export function serve(request, env) {
  return hop.serve(request, env);
}

/** Like `Hop.answer` in `hop.js`. */
export function answerWaiting(env, waiting) {
  return hop.answer(env, waiting);
}

export { refusing } from "./hop.js";
