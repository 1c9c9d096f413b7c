// Which messages of queues are the engine's. It tells them by their members, not by the names of the queues (STORAGE.md, Queues).

/** @typedef {{ body: unknown, ack(): void, retry(options?: object): void }} QueueMessage */
/** @typedef {{ queue: string, messages: readonly QueueMessage[] }} Batch */

/**
 * Divides a batch into the messages of the engine and those of the project; undefined where there are none.
 *
 * @param {Batch} batch @returns {{ own: Batch | undefined, others: Batch | undefined }}
 */
export function divide(batch) {
  const isOwn = (/** @type {QueueMessage} */ { body }) => typeof body === "string" && isOwnBody(body);
  return { own: only(batch, isOwn), others: only(batch, (message) => !isOwn(message)) };
}

/** @param {string} body */
function isOwnBody(body) {
  try {
    const { agent, task, configId, delete: deletions, until } = JSON.parse(body);
    const isJob = [agent, task, configId].every((member) => typeof member === "string");
    const areTasks = Array.isArray(deletions) && deletions.every((one) => typeof one?.task === "string");
    return isJob || (areTasks && typeof until === "number");
  } catch {
    return false;
  }
}

/**
 * The batch with some of its messages; the batch itself if it has no others.
 *
 * @param {Batch} batch @param {(message: QueueMessage) => boolean} belongs
 */
function only(batch, belongs) {
  const messages = batch.messages.filter(belongs);
  if (messages.length === 0) return undefined;
  if (messages.length === batch.messages.length) return batch;
  return {
    queue: batch.queue,
    messages,
    ackAll: () => messages.forEach((message) => message.ack()),
    retryAll: (/** @type {object} */ options) => messages.forEach((message) => message.retry(options)),
  };
}
