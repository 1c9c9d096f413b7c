import { createServer } from "node:http";
import { json } from "node:stream/consumers";
import { openai } from "@ai-sdk/openai";
import { isStepCount, streamText, tool, type ModelMessage } from "ai";
import { z } from "zod";

const temperature = tool({
  description: "The temperature in a city.",
  inputSchema: z.object({ city: z.string() }),
  execute: async ({ city }) => `21.5 degrees in ${city}`,
});

interface Message { role: string; parts: { text?: string }[] }

function message({ role, parts }: Message): ModelMessage {
  return { role: role === "ROLE_USER" ? "user" : "assistant", content: parts.map(({ text = "" }) => text).join("") };
}

async function* verbs(turn: { history: Message[] }, abortSignal: AbortSignal) {
  let verb: object = { do: "artifact", more: true };
  try {
    const { stream } = streamText({
      model: openai("gpt-5-mini"), instructions: "You know the weather.", messages: turn.history.map(message),
      tools: { temperature }, stopWhen: isStepCount(5), abortSignal, onError: () => {},
    });
    for await (const part of stream) {
      if (part.type === "error") throw part.error;
      if (part.type !== "text-delta") continue;
      yield { ...verb, text: part.text };
      verb = { do: "append" };
    }
    yield { do: "complete" };
  } catch (error) {
    yield { do: "fail", text: String(error) };
  }
}

createServer(async (request, response) => {
  const turn = (await json(request).catch(() => undefined)) as { history: Message[] } | undefined;
  if (turn === undefined) return void response.writeHead(400).end();
  const gone = new AbortController();
  response.on("close", () => gone.abort()).writeHead(200, { "content-type": "application/x-ndjson" }).flushHeaders();
  for await (const verb of verbs(turn, gone.signal)) response.write(`${JSON.stringify(verb)}\n`);
  response.end();
}).listen(Number(process.env["PORT"] ?? 8000), "127.0.0.1");
