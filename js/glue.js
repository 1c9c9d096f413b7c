// What Rust calls, with the functions of Rust that it needs in turn. `index.js` is what wasm-bindgen makes around the
// module, beside the folder of these files.
import {
  commonHeaders, headerNames, listed, plan, streamEvent, streamOpening, streamRefusal, streamTrouble, visit, wait,
} from "../../../index.js";
import { Hop } from "./hop.js";

const hop = new Hop({ commonHeaders, headerNames, listed, plan, streamEvent, streamOpening, streamRefusal, streamTrouble, visit, wait });

/** As `Hop.serve` in `hop.js`. */
export function serve(request, env) {
  return hop.serve(request, env);
}

/** As `Hop.answer` in `hop.js`. */
export function answerWaiting(env, waiting) {
  return hop.answer(env, waiting);
}

export { refusing } from "./hop.js";
