// Work that goes on when its request is answered, or its client has left.
import { waitUntil } from "cloudflare:workers";

/**
 * Lets the platform wait for a promise before it ends the request that is under way.
 *
 * @param {Promise<unknown>} promise
 */
export function goOn(promise) {
  waitUntil(promise);
}
