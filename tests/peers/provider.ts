// A provider of models that always answers the same, over its APIs of chat completions, responses and Gemini.

import { LLMock, type ChatCompletionRequest } from "@copilotkit/aimock";

/** What was asked by one request: role and text of each message, without instructions. */
export type Asked = [role: string, text: string][];

export interface Provider {
  /** The variables that make the clients of providers ask here. */
  readonly variables: Record<string, string>;
  /** The requests of so far, oldest first. */
  asked(): Asked[];
  /** How many connections were closed before their answer was whole. */
  dropped(): number;
  stop(): Promise<void>;
}

/** What is answered if nothing else is said below. */
export const GREETING = "Hello, this is an answer in several pieces.";
export const WEATHER = "It is 21.5 degrees in Rome, and sunny.";
export const REASON = "the model is out of order";

/** Starts it; a message with one of these words is answered otherwise than by a greeting. */
export async function startProvider(): Promise<Provider> {
  const mock = new LLMock({ port: 0, chunkSize: 8 });
  mock.on({ userMessage: "weather", hasToolResult: false }, { toolCalls: [{ name: "temperature", arguments: JSON.stringify({ city: "Rome" }) }] });
  mock.on({ userMessage: "weather", hasToolResult: true }, { content: WEATHER });
  mock.on({ userMessage: "broken" }, { error: { message: REASON, type: "invalid_request_error" }, status: 400 });
  mock.on({ userMessage: "torn" }, { content: GREETING.repeat(20) }, { latency: 20, truncateAfterChunks: 20 });
  mock.on({ userMessage: "slow" }, { content: GREETING.repeat(200) }, { latency: 50 });
  mock.on({ userMessage: "silent" }, { content: GREETING }, { latency: 60_000 });
  mock.on({}, { content: GREETING });

  let dropped = 0;
  const handleRequest: Parameters<typeof mock.mount>[1]["handleRequest"] = async (_, response) => {
    response.on("close", () => (dropped += response.writableFinished ? 0 : 1));
    return false;
  };
  for (const path of ["/v1", "/v1beta"]) mock.mount(path, { handleRequest });
  const url = await mock.start();
  return {
    variables: {
      OPENAI_BASE_URL: `${url}/v1`, OPENAI_API_KEY: "none", OPENAI_AGENTS_DISABLE_TRACING: "1",
      GOOGLE_GEMINI_BASE_URL: url, GEMINI_API_KEY: "none",
    },
    asked: () => mock.getRequests().map(({ body }) => said(body as ChatCompletionRequest | null)),
    dropped: () => dropped,
    stop: () => mock.stop(),
  };
}

function said(request: ChatCompletionRequest | null): Asked {
  const messages = (request?.messages ?? []).filter(({ role }) => role !== "system");
  return messages.map(({ role, content }) => [role, typeof content === "string" ? content : (content ?? []).map(({ text = "" }) => text).join("")]);
}
