// Reads the rest of a request's body after the Worker has answered, and throws it away. The Worker refuses a body by its declared length, a wrong
// path or a missing key before it has read the body; the server then closes a connection over which its client still sends, and the client sees
// a reset, or 500 of wrangler's proxy, in place of the answer. A deployment leaves this to Cloudflare's servers, which hold the client's connection.

/** The largest number of bytes that are thrown away. */
const MAX_BYTES = 64 * 1024 * 1024;

/** The longest time in which bytes are thrown away. */
const MAX_MS = 10_000;

/** The longest wait for the next bytes: a client that has stopped sending waits for the answer itself. */
const MAX_SILENCE_MS = 2_000;

/**
 * Answers a request with `pass`, which is given the request with a body of its own, and returns this answer once the client has sent its body, or
 * one of the bounds is reached.
 *
 * @param {Request} request @param {(request: Request) => Promise<Response>} pass
 * @returns {Promise<Response>}
 */
export async function answerAfterBody(request, pass) {
  if (request.body === null) return pass(request);
  const { method, headers, signal } = request;
  const reader = request.body.getReader();
  const cf = /** @type {any} */ (request).cf;
  // The Worker reads into buffers of its own, as only a stream of bytes allows.
  const body = new ReadableStream({
    type: "bytes",
    async pull(controller) {
      const { done, value } = await reader.read();
      if (!done) return controller.enqueue(value);
      controller.close();
      controller.byobRequest?.respond(0);
    },
  });
  const init = { method, headers, signal, body, duplex: "half", redirect: "manual", ...(cf === undefined ? {} : { cf }) };
  try {
    return await pass(new Request(request.url, /** @type {RequestInit} */ (init)));
  } finally {
    await readRest(reader);
  }
}

/** @param {ReadableStreamDefaultReader<Uint8Array>} reader */
async function readRest(reader) {
  const ends = Date.now() + MAX_MS;
  try {
    for (let bytes = 0; bytes < MAX_BYTES; ) {
      const piece = await within(Math.min(MAX_SILENCE_MS, ends - Date.now()), reader.read());
      if (piece === undefined || piece.done) return;
      bytes += piece.value.length;
    }
  } catch {
    // The body breaks off: nothing more arrives.
  }
}

/**
 * The value of a promise; undefined if it takes longer than this time.
 *
 * @template Value
 * @param {number} ms @param {Promise<Value>} promise
 * @returns {Promise<Value | undefined>}
 */
async function within(ms, promise) {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  const late = new Promise((resolve) => (timer = setTimeout(resolve, ms)));
  try {
    return /** @type {Value | undefined} */ (await Promise.race([promise, late]));
  } finally {
    clearTimeout(timer);
  }
}
