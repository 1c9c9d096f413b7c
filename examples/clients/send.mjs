// Sends a text to an agent, and prints the answer: npm install @a2a-js/sdk, then node send.mjs "Hello" [URL of the agent]. The file is also valid
// TypeScript.
import { SendMessageRequest } from "@a2a-js/sdk";
import { ClientFactory } from "@a2a-js/sdk/client";

const [text = "Hello", url = "http://localhost:8787/demo"] = process.argv.slice(2);
const client = await new ClientFactory().createFromUrl(`${url}/`, ".well-known/agent-card.json");
const message = { messageId: crypto.randomUUID(), role: "ROLE_USER", parts: [{ text }] };
for await (const { payload } of client.sendMessageStream(SendMessageRequest.fromJSON({ message }))) {
  if (payload?.$case !== "artifactUpdate") continue;
  for (const { content } of payload.value.artifact?.parts ?? []) if (content?.$case === "text") console.log(content.value);
}
