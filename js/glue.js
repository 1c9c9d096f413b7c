// What Rust calls, with the functions of Rust that it needs in turn. `index.js` is what wasm-bindgen makes around the
// module, beside the folder of these files.
import { streamOpening, streamRefusal, streamTrouble } from "../../../index.js";
import { open } from "./stream.js";

const rust = { streamOpening, streamRefusal, streamTrouble };

/** As `open` in `stream.js`. */
export function openStream(namespace, address, plan) {
  return open(namespace, address, plan, rust);
}
