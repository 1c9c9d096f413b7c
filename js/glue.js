// What Rust calls, with the functions of Rust that it needs in turn. `index.js` is what wasm-bindgen makes around the
// module, beside the folder of these files.
import {
  carryOut, commonHeaders, failed, headerNames, held, listed, plan, streamEvent, streamOpening, streamRefusal,
  streamTrouble,
} from "../../../index.js";
import { Hop } from "./hop.js";
import { open } from "./stream.js";

const rust = { carryOut, commonHeaders, failed, headerNames, held, listed, plan, streamEvent, streamOpening, streamRefusal, streamTrouble };

const hop = new Hop(rust);

/** As `Hop.serve` in `hop.js`. */
export function serve(request, env) {
  return hop.serve(request, env);
}

/** As `open` in `stream.js`. */
export function openStream(namespace, address, plan) {
  return open(namespace, address, plan, rust);
}

export { refusing } from "./hop.js";
