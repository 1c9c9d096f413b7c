// Messages for the queues of the platform.

/**
 * Puts texts into a queue, each as a message: at most a hundred, with a total of 256 KB.
 *
 * @param {Record<string, Queue>} env
 * @param {string} name The name of the queue's binding.
 * @param {string[]} texts
 */
export async function enqueue(env, name, texts) {
  await env[name].sendBatch(texts.map((body) => ({ body, contentType: "text" })));
}
