import { AIMessage, AIMessageChunk, HumanMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { ToolNode, toolsCondition } from "@langchain/langgraph/prebuilt";
import { ChatOpenAI } from "@langchain/openai";
import { executor } from "a2a-edge";
import { z } from "zod";

const temperature = tool(({ city }) => `21.5 degrees in ${city}`, {
  name: "temperature", description: "The temperature in a city.", schema: z.object({ city: z.string() }),
});

export const forecast = executor({
  settings: z.object({ base_url: z.url(), model: z.string() }),
  async *execute(turn) {
    const { base_url: baseURL, model } = turn.settings;
    const chat = new ChatOpenAI({ model, apiKey: turn.secret("MODEL_KEY"), configuration: { baseURL, fetch: turn.fetch } });
    const graph = new StateGraph(MessagesAnnotation)
      .addNode("answer", async ({ messages }, options) => ({ messages: [await chat.bindTools([temperature]).invoke(messages, options)] }))
      .addNode("tools", new ToolNode([temperature]))
      .addEdge(START, "answer")
      .addConditionalEdges("answer", toolsCondition)
      .addEdge("tools", "answer")
      .compile();
    const messages = turn.history().map(({ role, parts }) => {
      const text = parts.map((part) => ("text" in part ? part.text : "")).join("");
      return role === "ROLE_USER" ? new HumanMessage(text) : new AIMessage(text);
    });
    for await (const [chunk] of await graph.stream({ messages }, { streamMode: "messages", signal: turn.signal })) {
      if (chunk instanceof AIMessageChunk && chunk.text !== "") yield chunk.text;
    }
  },
});
