// Work that continues after its request is answered, or after the client has disconnected.
import { waitUntil } from "cloudflare:workers";

/**
 * Makes the platform wait for a promise before it ends the current request.
 *
 * @param {Promise<unknown>} promise
 */
export function goOn(promise) {
  waitUntil(promise);
}
