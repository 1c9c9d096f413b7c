// `@a2a-js/sdk` 0.2 in the shape of 0.3's client, so that the specs for that one try it: `sdk-0.2.mjs` gives it to them.
// It finds the card at /.well-known/agent.json, and answers with whole JSON-RPC responses.

import type { GetTaskPushNotificationConfigParams, MessageSendParams, TaskIdParams, TaskPushNotificationConfig, TaskQueryParams } from "@a2a-js/sdk-0.3";
import { A2AClient } from "@a2a-js/sdk-0.2/client";

class A2AError extends Error {}
export class TaskNotFoundError extends A2AError {}
export class TaskNotCancelableError extends A2AError {}
export class UnsupportedOperationError extends A2AError {}
const errors: Record<number, typeof A2AError> = { [-32001]: TaskNotFoundError, [-32002]: TaskNotCancelableError, [-32004]: UnsupportedOperationError };

async function result<T>(response: Promise<unknown>): Promise<T> {
  const { error, ...rest } = (await response) as { error?: { code: number; message: string }; result?: T };
  if (error !== undefined) throw new (errors[error.code] ?? A2AError)(`${error.message} (${error.code})`);
  return rest.result as T;
}

/** The types of 0.3 hold for those of 0.2, which has fewer members. */
class Client {
  readonly #client: A2AClient;

  constructor(client: A2AClient) {
    this.#client = client;
  }

  sendMessage = (params: MessageSendParams) => result(this.#client.sendMessage(params as never));
  sendMessageStream = (params: MessageSendParams) => this.#client.sendMessageStream(params as never);
  resubscribeTask = (params: TaskIdParams) => this.#client.resubscribeTask(params);
  getTask = (params: TaskQueryParams) => result(this.#client.getTask(params));
  cancelTask = (params: TaskIdParams) => result(this.#client.cancelTask(params));
  setTaskPushNotificationConfig = (params: TaskPushNotificationConfig) => result(this.#client.setTaskPushNotificationConfig(params as never));
  getTaskPushNotificationConfig = (params: GetTaskPushNotificationConfigParams) => result(this.#client.getTaskPushNotificationConfig(params));
}

export const ClientFactoryOptions = { default: {}, createFrom: (): object => ({}) };

export class ClientFactory {
  async createFromUrl(url: string): Promise<Client> {
    const client = new A2AClient(url);
    await client.getAgentCard();
    return new Client(client);
  }
}
