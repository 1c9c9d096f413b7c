// Servers with the official SDK for JavaScript, of 1.0 and of 0.3, over JSON-RPC and HTTP+JSON.

import express, { type Express } from "express";
import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { AgentCard, Message, Part, Task, TaskArtifactUpdateEvent, TaskStatusUpdateEvent } from "@a2a-js/sdk";
import {
  AgentEvent, DefaultExecutionEventBusManager, DefaultPushNotificationSender, DefaultRequestHandler, InMemoryPushNotificationStore, InMemoryTaskStore, type AgentExecutor,
} from "@a2a-js/sdk/server";
import { agentCardHandler, jsonRpcHandler, restHandler } from "@a2a-js/sdk/server/express";
import type { AgentCard as CardOf03 } from "@a2a-js/sdk-0.3";
import * as sdk03 from "@a2a-js/sdk-0.3/server";
import * as express03 from "@a2a-js/sdk-0.3/server/express";
import { act, cancel } from "./agent.ts";

/** A running server. */
export interface SampleServer {
  /** The origin of the server. */
  url: string;
  stop(): Promise<void>;
}

/** A server of 1.0 that also answers clients of 0.3. */
export function startServer(): Promise<SampleServer> {
  return listening((app, url) => {
    const executor: AgentExecutor = {
      async execute({ userMessage, taskId, contextId, task }, bus) {
        const [text, ...rest] = userMessage.parts;
        const turn = { taskId, contextId, message: Message.toJSON(userMessage), text: String(text?.content?.value), rest: rest.map((part) => Part.toJSON(part)), task: task && Task.toJSON(task) };
        await act("1.0", turn, {
          task: (task) => bus.publish(AgentEvent.task(Task.fromJSON(task))),
          message: (message) => bus.publish(AgentEvent.message(Message.fromJSON(message))),
          status: (event) => bus.publish(AgentEvent.statusUpdate(TaskStatusUpdateEvent.fromJSON(event))),
          artifact: (event) => bus.publish(AgentEvent.artifactUpdate(TaskArtifactUpdateEvent.fromJSON(event))),
        });
        bus.finished();
      },
      async cancelTask(taskId) {
        cancel(taskId);
      },
    };
    const card = (name: string): AgentCard =>
      AgentCard.fromJSON({
        ...about(name),
        capabilities: { streaming: true, pushNotifications: true, extendedAgentCard: true },
        supportedInterfaces: ["1.0", "0.3"].flatMap((protocolVersion) => [
          { url: `${url}/rpc`, protocolBinding: "JSONRPC", protocolVersion },
          { url: `${url}/rest`, protocolBinding: "HTTP+JSON", protocolVersion },
        ]),
      });
    const webhooks = new InMemoryPushNotificationStore();
    const sender = new DefaultPushNotificationSender(webhooks);
    const requestHandler = new DefaultRequestHandler(
      card("Sample"), new InMemoryTaskStore(), executor, new DefaultExecutionEventBusManager(), webhooks, sender, card("Sample, extended"),
    );
    const options = { requestHandler, userBuilder: anybody, legacyCompat: { enabled: true } };
    app.use("/.well-known/agent-card.json", agentCardHandler({ agentCardProvider: requestHandler, legacyCompat: { enabled: true } }));
    app.use("/rpc", jsonRpcHandler(options));
    app.use("/rest", restHandler(options));
  });
}

/** A server of 0.3. */
export function startServerOf03(): Promise<SampleServer> {
  return listening((app, url) => {
    const executor: sdk03.AgentExecutor = {
      async execute({ userMessage, taskId, contextId, task }, bus) {
        const [text, ...rest] = userMessage.parts;
        const turn = { taskId, contextId, message: userMessage, text: text?.kind === "text" ? text.text : "", rest, task };
        const publish = (event: unknown): void => bus.publish(event as sdk03.AgentExecutionEvent);
        await act("0.3", turn, { task: publish, message: publish, status: publish, artifact: publish });
        bus.finished();
      },
      async cancelTask(taskId) {
        cancel(taskId);
      },
    };
    const card = (name: string): CardOf03 => ({
      ...about(name),
      protocolVersion: "0.3.0",
      url: `${url}/rpc`,
      preferredTransport: "JSONRPC",
      additionalInterfaces: [{ url: `${url}/rpc`, transport: "JSONRPC" }, { url: `${url}/rest`, transport: "HTTP+JSON" }],
      capabilities: { streaming: true, pushNotifications: true },
      supportsAuthenticatedExtendedCard: true,
    });
    const webhooks = new sdk03.InMemoryPushNotificationStore();
    const sender = new sdk03.DefaultPushNotificationSender(webhooks);
    const requestHandler = new sdk03.DefaultRequestHandler(
      card("Sample"), new sdk03.InMemoryTaskStore(), executor, new sdk03.DefaultExecutionEventBusManager(), webhooks, sender, card("Sample, extended"),
    );
    const options = { requestHandler, userBuilder: anybody };
    app.use("/.well-known/agent-card.json", express03.agentCardHandler({ agentCardProvider: requestHandler }));
    app.use("/rpc", express03.jsonRpcHandler(options));
    app.use("/rest", express03.restHandler(options));
  });
}

/** An authenticated caller, because only authenticated callers get the extended card. */
const anybody = () => Promise.resolve({ isAuthenticated: true, userName: "anybody" });

const about = (name: string) => ({
  name,
  description: "Does what it is told.",
  version: "1.0.0",
  defaultInputModes: ["text/plain"],
  defaultOutputModes: ["text/plain"],
  skills: [{ id: "echo", name: "Echo", description: "Says it again.", tags: ["test"] }],
});

async function listening(setUp: (app: Express, url: string) => void): Promise<SampleServer> {
  const app = express();
  const server: Server = app.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  setUp(app, url);
  return {
    url,
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
