// Executors of the SDK and programs of verbs.
import { TaskState } from "@a2a-js/sdk";
import { AgentEvent, type AgentExecutor, type ExecutionEventBus, type RequestContext } from "@a2a-js/sdk/server";
import { TaskObject, worker } from "a2a-edge";
import { fromSdk } from "a2a-edge/sdk";
import { fromVerbs, type HttpTurn, type Verb } from "a2a-edge/verbs";
import agents from "#agents";

class DrawingAgent implements AgentExecutor {
  async execute({ taskId, contextId }: RequestContext, bus: ExecutionEventBus) {
    const status = { state: TaskState.TASK_STATE_COMPLETED, message: undefined, timestamp: undefined };
    bus.publish(AgentEvent.statusUpdate({ taskId, contextId, status, metadata: undefined }));
    bus.finished();
  }

  async cancelTask() {}
}

async function* answer(turn: HttpTurn): AsyncGenerator<Verb> {
  if (turn.turn === 1) return yield { do: "input_required", text: "A poem about what?" };
  yield { do: "artifact", text: "Roses are red,\n", more: true };
  yield { do: "append", parts: [{ text: `and this is for ${turn.caller.id}` }] };
  yield { do: "usage", inputTokens: 12, outputTokens: 3 };
  yield { do: "complete", usage: { requests: 2, costMicros: 45 } };
}

export { TaskObject };
export default worker({
  agents,
  executors: {
    drawing: fromSdk(() => new DrawingAgent()),
    later: fromSdk((env, turn) => (env.SHOP_URL === turn.text ? new DrawingAgent() : new DrawingAgent()), { recovery: "restart" }),
    poet: fromVerbs(answer),
    short: fromVerbs(() => [{ do: "reply", data: { a: 1 } }], { recovery: "fail" }),
  },
});

// @ts-expect-error an executor of the SDK has no steps to resume
fromSdk(() => new DrawingAgent(), { recovery: "resume" });

// @ts-expect-error no such verb
fromVerbs(() => [{ do: "dance" }]);

// @ts-expect-error numbers of a usage are numbers
fromVerbs(() => [{ do: "complete", usage: { inputTokens: "12" } }]);

// @ts-expect-error a question has a text
fromVerbs(() => [{ do: "input_required" }]);

// @ts-expect-error a verb has one content
fromVerbs(() => [{ do: "artifact" }]);
