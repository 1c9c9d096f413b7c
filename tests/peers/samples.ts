// Samples of the official SDK and of a2a-samples, unchanged, as executors of a project by `fromSdk`.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { cpSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { basename, join } from "node:path";
import { text } from "node:stream/consumers";
import { TaskState, type Task } from "@a2a-js/sdk";
import { ClientFactory, type Client } from "@a2a-js/sdk/client";
import { generate, makeProject, served, type Project } from "../docs/projects.mjs";
import { saying, send, textOf, until } from "./frameworks.ts";
import type { Result } from "./page.ts";

interface Sample {
  /** The repository, and its folder below `ROOTS`. */
  from: keyof typeof ROOTS;
  folder: string;
  /** The kind of its executor, the class to import and how one is made. */
  kind: string;
  imports: string;
  make: string;
  /** What is checked, for the page. */
  what: string;
  check(client: Client): Promise<void>;
}

/** Where the samples are in a checkout, and in the project. */
const ROOTS = {
  "a2a-js": { checkout: "src/samples", project: "src/sdk/samples" },
  "a2a-samples": { checkout: "samples/js", project: "src/a2a-samples" },
};

const SAMPLES: Sample[] = [
  {
    from: "a2a-js", folder: "agents/sample-agent", kind: "sample",
    imports: 'import { SampleAgentExecutor } from "./sdk/samples/agents/sample-agent/agent_executor.js";', make: "new SampleAgentExecutor()",
    what: "answers with an artifact after a status; a cancel ends it in the middle",
    async check(client) {
      await answers(client, "hello", "Hello World! Nice to meet you!");
      await isCanceled(client);
    },
  },
  {
    from: "a2a-js", folder: "agents/cancellable-agent", kind: "cancellable",
    imports: 'import { CancellableAgentExecutor } from "./sdk/samples/agents/cancellable-agent/agent_executor.js";', make: "new CancellableAgentExecutor()",
    what: "works for five seconds; a cancel ends it before",
    async check(client) {
      assert.equal(stateOf(await send(client, saying("work"))), TaskState.TASK_STATE_COMPLETED);
      await isCanceled(client);
    },
  },
  {
    from: "a2a-js", folder: "agents/push-notification-agent", kind: "notifying",
    imports: 'import { PushNotificationAgentExecutor } from "./sdk/samples/agents/push-notification-agent/agent_executor.js";',
    make: "new PushNotificationAgentExecutor()",
    what: "a webhook is told of each status and of the artifact, in order",
    check: notifies,
  },
  {
    from: "a2a-js", folder: "authentication", kind: "authentication",
    imports: 'import { AuthenticationAgentExecutor } from "./sdk/samples/authentication/agent_executor.js";', make: "new AuthenticationAgentExecutor()",
    what: "answers by a message without a task, and sees that nobody has signed in. Its user builder for Express is not used: callers come from the agent file",
    async check(client) {
      const answer = await client.sendMessage(saying("who am I?"));
      assert.ok("parts" in answer, "it is a message");
      assert.equal(textOf(answer.parts), "The request is not coming from an authenticated user.");
    },
  },
  {
    from: "a2a-js", folder: "extensions", kind: "extensions",
    imports: 'import { TimestampingAgentExecutor } from "./sdk/samples/extensions/extensions.js";\nimport { SampleAgentExecutor as Inner } from "./sdk/samples/agents/sample-agent/agent_executor.js";',
    make: "new TimestampingAgentExecutor(new Inner())",
    what: "an executor around another one, with a bus of events of its own. The extension itself is not activated: executors are not told which ones a client asks for",
    check: (client) => answers(client, "hello", "Hello World! Nice to meet you!"),
  },
  {
    from: "a2a-samples", folder: "agents/helloworld", kind: "helloworld",
    imports: 'import { HelloWorldAgentExecutor } from "./a2a-samples/agents/helloworld/agent_executor.js";', make: "new HelloWorldAgentExecutor()",
    what: "answers with an artifact",
    check: (client) => answers(client, "Ada", "Hello, World! I have received your request (Ada)"),
  },
  {
    from: "a2a-samples", folder: "agents/sign-and-verify-agent-card", kind: "verifying",
    imports: 'import { SignedAgentExecutor } from "./a2a-samples/agents/sign-and-verify-agent-card/agent_executor.js";', make: "new SignedAgentExecutor()",
    what: "answers with an artifact. Its signing of the card is not used: a2a-edge signs cards",
    check: (client) => answers(client, "Ada", "Verify me! (Ada)"),
  },
  {
    from: "a2a-samples", folder: "extensions/timestamp", kind: "timestamp",
    imports: 'import { EchoExecutor } from "./a2a-samples/extensions/timestamp/agent_executor.js";\nimport { wrapExecutor } from "./a2a-samples/extensions/timestamp/timestamp_ext/server.js";\nimport { TimestampExtension } from "./a2a-samples/extensions/timestamp/timestamp_ext/core.js";',
    make: "wrapExecutor(new EchoExecutor(), new TimestampExtension())",
    what: "answers with an artifact, within its wrapper. The extension itself is not activated, as above",
    check: (client) => answers(client, "Ada", "hello! (Ada)"),
  },
];

/** Runs the samples of these checkouts in one project. */
export async function runSamples(checkouts: Record<keyof typeof ROOTS, string>): Promise<Result[]> {
  const project = projectOf(checkouts);
  try {
    await generate(project);
    return await served(project, async (url) => {
      const results: Result[] = [];
      for (const { from, folder, kind, what, check } of SAMPLES) {
        const client = await new ClientFactory().createFromUrl(`${url}/${kind}/`, ".well-known/agent-card.json");
        const failure = await check(client).then(() => undefined, (error: unknown) => error);
        console.log(`    ${failure === undefined ? "ok" : "FAILED"}  ${from}: ${folder}`);
        if (failure !== undefined) console.log(failure);
        results.push({ name: `${from}: ${basename(folder)}`, language: "TypeScript", version: revisionOf(checkouts[from]), what, passed: failure === undefined });
      }
      return results;
    });
  } finally {
    project.remove();
  }
}

/** The project: the samples as they are, where what they import of the SDK's sources is the SDK. */
function projectOf(checkouts: Record<keyof typeof ROOTS, string>): Project {
  const executors = SAMPLES.map(({ kind, make }) => `    ${kind}: fromSdk(() => ${make}),\n`);
  const index = `import agents from "#agents";
import { TaskObject, worker } from "a2a-edge";
import { fromSdk } from "a2a-edge/sdk";
${SAMPLES.map(({ imports }) => imports).join("\n")}

export { TaskObject };
export default worker({
  agents,
  executors: {
${executors.join("")}  },
});
`;
  const sdk = { "src/sdk/index.ts": 'export * from "@a2a-js/sdk";\n', "src/sdk/server/index.ts": 'export * from "@a2a-js/sdk/server";\n' };
  const agents = Object.fromEntries(SAMPLES.map(({ kind }, index) => [`agents/${kind}.toml`, agentOf(kind, index === 0)]));
  const project = makeProject({ files: { ...sdk, ...agents, "src/index.ts": index } });
  for (const [name, { checkout, project: place }] of Object.entries(ROOTS)) {
    cpSync(join(checkouts[name as keyof typeof ROOTS], checkout), project.at(place), { recursive: true, filter: (path) => !path.includes("node_modules") });
  }
  return project;
}

const agentOf = (kind: string, isDefault: boolean): string => `name = "${kind}"
description = "A sample of the official SDK."
version = "1.0.0"
default = ${isDefault}

[capabilities]
push_notifications = true

[access]
open = true
open_webhooks = true

[[skills]]
id = "answer"
name = "Answer"
description = "Say anything."
tags = ["sample"]

[executor]
kind = "${kind}"
`;

const revisionOf = (checkout: string): string => execFileSync("git", ["-C", checkout, "rev-parse", "--short", "HEAD"], { encoding: "utf8" }).trim();
const stateOf = ({ status }: Task): TaskState | undefined => status?.state;

async function answers(client: Client, question: string, answer: string): Promise<void> {
  const task = await send(client, saying(question));
  assert.equal(stateOf(task), TaskState.TASK_STATE_COMPLETED, textOf(task.status?.message?.parts));
  assert.equal(textOf(task.artifacts[0]?.parts), answer);
}

/** A cancel in the middle of the work ends the task. */
async function isCanceled(client: Client): Promise<void> {
  const begun = await send(client, { ...saying("work"), configuration: { acceptedOutputModes: [], returnImmediately: true, taskPushNotificationConfig: undefined, historyLength: undefined } });
  const canceled = await client.cancelTask({ tenant: "", id: begun.id, metadata: undefined });
  assert.equal(stateOf(canceled), TaskState.TASK_STATE_CANCELED);
}

async function notifies(client: Client): Promise<void> {
  const told: string[] = [];
  const receiver = createServer(async (request, response) => {
    told.push(await text(request));
    response.end();
  }).listen(0, "127.0.0.1");
  await once(receiver, "listening");
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
  const webhook = { tenant: "", taskId: "", id: "", url, token: "", authentication: undefined };
  const configuration = { acceptedOutputModes: [], returnImmediately: false, taskPushNotificationConfig: webhook, historyLength: undefined };
  try {
    assert.equal(stateOf(await send(client, { ...saying("work"), configuration })), TaskState.TASK_STATE_COMPLETED);
    await until(() => told.some((body) => body.includes("TASK_STATE_COMPLETED")), "the webhook is not told of the end");
    const at = ["TASK_STATE_WORKING", "artifactUpdate", "TASK_STATE_COMPLETED"].map((what) => told.findIndex((body) => body.includes(what)));
    assert.deepEqual(at, [...at].sort((one, other) => one - other));
    assert.ok(at.every((index) => index >= 0) && told.filter((body) => body.includes("TASK_STATE_WORKING")).length >= 3, told.join("\n"));
  } finally {
    receiver.close();
    receiver.closeAllConnections();
  }
}
