import { randomUUID } from "node:crypto";
import { TaskState, type Part } from "@a2a-js/sdk";
import { AgentEvent, type AgentExecutor, type ExecutionEventBus, type RequestContext } from "@a2a-js/sdk/server";

const text = (value: string, mediaType = "text/plain"): Part => ({
  content: { $case: "text", value }, mediaType, filename: "", metadata: undefined,
});

/** Draws a square of the width that it is told, as agents for the official SDK are written. */
export class DrawingAgent implements AgentExecutor {
  async execute({ userMessage, taskId, contextId, task }: RequestContext, bus: ExecutionEventBus): Promise<void> {
    const timestamp = new Date().toISOString();
    const status = (state: TaskState, said?: string) => ({
      state,
      timestamp,
      message: said === undefined ? undefined : {
        messageId: randomUUID(), role: 2, taskId, contextId, parts: [text(said)], metadata: undefined, extensions: [], referenceTaskIds: [],
      },
    });
    if (task === undefined) {
      const state = status(TaskState.TASK_STATE_SUBMITTED);
      bus.publish(AgentEvent.task({ id: taskId, contextId, status: state, artifacts: [], history: [userMessage], metadata: undefined }));
    }
    const said = userMessage.parts[0]?.content;
    const width = said?.$case === "text" ? Number.parseInt(said.value, 10) : Number.NaN;
    if (Number.isNaN(width)) {
      const asked = status(TaskState.TASK_STATE_INPUT_REQUIRED, "How wide?");
      bus.publish(AgentEvent.statusUpdate({ taskId, contextId, status: asked, metadata: undefined }));
      return bus.finished();
    }
    const pieces = ["<svg xmlns='http://www.w3.org/2000/svg'>", `<rect width='${width}' height='${width}'/>`, "</svg>"];
    for (const [index, piece] of pieces.entries()) {
      const parts = [text(piece, "image/svg+xml")];
      const artifact = { artifactId: "drawing", name: "drawing", description: "", parts, metadata: undefined, extensions: [] };
      const lastChunk = index === pieces.length - 1;
      bus.publish(AgentEvent.artifactUpdate({ taskId, contextId, artifact, append: index > 0, lastChunk, metadata: undefined }));
    }
    const done = status(TaskState.TASK_STATE_COMPLETED);
    bus.publish(AgentEvent.statusUpdate({ taskId, contextId, status: done, metadata: undefined }));
    bus.finished();
  }

  async cancelTask(): Promise<void> {}
}
