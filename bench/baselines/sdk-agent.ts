// The agent of the baseline: it handles a text like the scripted agent `demo`.

import { TaskState, type AgentCard, type Message } from "@a2a-js/sdk";
import { chunk } from "../chunk.ts";
import { AgentEvent, type AgentExecutor, type ExecutionEventBus, type RequestContext } from "@a2a-js/sdk/server";

export const card: AgentCard = {
  name: "Echo",
  description: "Gives back any text as an artifact.",
  version: "1.0.0",
  supportedInterfaces: [{ url: "http://127.0.0.1/", protocolBinding: "JSONRPC", tenant: "", protocolVersion: "1.0" }],
  provider: undefined,
  capabilities: { streaming: true, pushNotifications: false, extendedAgentCard: false, extensions: [] },
  securitySchemes: {},
  securityRequirements: [],
  defaultInputModes: ["text/plain"],
  defaultOutputModes: ["text/plain"],
  skills: [{ id: "repeat", name: "Repeat", description: "Gives back the text.", tags: ["echo"], examples: [], inputModes: [], outputModes: [], securityRequirements: [] }],
  signatures: [],
};

/** Returns a text as an artifact; for `hold 500`, after half a second; for `chunks 500 every 20`, in 500 pieces with the times at which they are given. */
export class Echo implements AgentExecutor {
  readonly #taskId: string;

  /** `taskId` is the id of its only task. */
  constructor(taskId: string) {
    this.#taskId = taskId;
  }

  async execute({ userMessage, contextId }: RequestContext, bus: ExecutionEventBus): Promise<void> {
    const of = { taskId: this.#taskId, contextId, metadata: {} };
    const status = (state: TaskState) => ({ state, message: undefined, timestamp: new Date().toISOString() });
    const history = [{ ...userMessage, taskId: this.#taskId }];
    bus.publish(AgentEvent.task({ id: this.#taskId, contextId, status: status(TaskState.TASK_STATE_SUBMITTED), artifacts: [], history, metadata: {} }));
    bus.publish(AgentEvent.statusUpdate({ ...of, status: status(TaskState.TASK_STATE_WORKING) }));
    const text = textOf(userMessage);
    const append = (piece: string, isAppended: boolean, lastChunk: boolean): void => {
      const parts = [{ content: { $case: "text" as const, value: piece }, mediaType: "", filename: "", metadata: undefined }];
      const artifact = { artifactId: "echo", name: "echo", description: "", parts, metadata: undefined, extensions: [] };
      bus.publish(AgentEvent.artifactUpdate({ ...of, artifact, append: isAppended, lastChunk }));
    };
    const [, count, everyMs] = /^chunks (\d+) every (\d+)$/.exec(text) ?? [];
    for (let number = 1; number <= Number(count ?? 0); number += 1) {
      append(chunk(Date.now()), number > 1, number === Number(count));
      await new Promise((resolve) => setTimeout(resolve, Number(everyMs)));
    }
    const holdMs = /^hold (\d+)$/.exec(text)?.[1];
    if (holdMs !== undefined) await new Promise((resolve) => setTimeout(resolve, Number(holdMs)));
    if (count === undefined) append(text, false, true);
    bus.publish(AgentEvent.statusUpdate({ ...of, status: status(TaskState.TASK_STATE_COMPLETED) }));
  }

  async cancelTask(taskId: string, bus: ExecutionEventBus): Promise<void> {
    const status = { state: TaskState.TASK_STATE_CANCELED, message: undefined, timestamp: new Date().toISOString() };
    bus.publish(AgentEvent.statusUpdate({ taskId, contextId: "", status, metadata: {} }));
  }
}

function textOf({ parts }: Message): string {
  return parts.map(({ content }) => (content?.$case === "text" ? content.value : "")).join("");
}
