import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { executor } from "a2a-edge";
import { streamText, type ModelMessage } from "ai";
import { z } from "zod";

export const poet = executor({
  settings: z.object({ base_url: z.url(), model: z.string() }),
  async *execute(turn) {
    const { base_url: baseURL, model } = turn.settings;
    const models = createOpenAICompatible({ name: "models", baseURL, apiKey: turn.secret("MODEL_KEY"), fetch: turn.fetch });
    const messages = turn.history().map(({ role, parts }): ModelMessage => ({
      role: role === "ROLE_USER" ? "user" : "assistant",
      content: parts.map((part) => ("text" in part ? part.text : "")).join(""),
    }));
    const { stream } = streamText({
      model: models(model), instructions: "You write short poems.", messages, abortSignal: turn.signal, onError: () => {},
    });
    for await (const part of stream) {
      if (part.type === "error") throw part.error;
      if (part.type === "text-delta") yield part.text;
    }
  },
});
