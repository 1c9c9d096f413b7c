// Frameworks for models within executors in TypeScript: the files of examples/typescript, as they are, in a project that is served. What they ask of a model is
// answered by provider.ts, and by the scripted model of development.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { TaskState } from "@a2a-js/sdk";
import { ClientFactory, type Client } from "@a2a-js/sdk/client";
import { freePort } from "../../scripts/lib/port.mjs";
import { root } from "../docs/markdown.mjs";
import { generate, makeProject, served, typeMistakes, type Project } from "../docs/projects.mjs";
import { callsItsTool, fails, isCanceled, saying, send, streams, textOf } from "./frameworks.ts";
import { startProvider } from "./provider.ts";

/** An executor of examples/typescript: its file, its name there, and whether it has a tool. */
export interface Example {
  file: string;
  kind: string;
  hasTool: boolean;
}

/** Has the executor answer clients of A2A, with a model that tells what it was asked. */
export async function answersAsFunction(example: Example): Promise<void> {
  const provider = await startProvider();
  const project = projectOf(example, provider.variables["OPENAI_BASE_URL"] ?? "");
  try {
    await generate(project);
    assert.equal(await typeMistakes(project, ["src"]), "");
    await served(project, async (url) => {
      const client = await clientOf(url, example.kind);
      await streams(client, 1);
      if (example.hasTool) await callsItsTool(client, provider);
      await fails(client);
      for (const what of ["slow", "silent"]) await isCanceled(client, provider, what);
    });
  } finally {
    project.remove();
    await provider.stop();
  }
}

/** Has the executor answer with the scripted model of development, which needs no key. */
export async function answersWithScriptedModel(example: Example): Promise<void> {
  const port = await freePort();
  const project = projectOf(example, `http://127.0.0.1:${port}/_dev/model`);
  try {
    await generate(project);
    await served(project, async (url) => {
      const task = await send(await clientOf(url, example.kind), saying("hello"));
      assert.equal(task.status?.state, TaskState.TASK_STATE_COMPLETED, textOf(task.status?.message?.parts));
      assert.match(textOf(task.artifacts[0]?.parts), /\w+ \w+/);
    }, { port });
  } finally {
    project.remove();
  }
}

/** The project with this executor alone, whose model is at `baseUrl`. */
function projectOf({ file, kind }: Example, baseUrl: string): Project {
  const source = readFileSync(join(root, "examples", "typescript", file), "utf8");
  const index = `import agents from "#agents";
import { TaskObject, worker } from "a2a-edge";
import { ${kind} } from "./${kind}.ts";

export { TaskObject };
export default worker({ agents, executors: { ${kind} } });
`;
  const agent = `name = "${kind}"
description = "Answers by a model."
version = "1.0.0"
default = true

[[skills]]
id = "answer"
name = "Answer"
description = "Say anything."
tags = ["model"]

[executor]
kind = "${kind}"

[executor.${kind}]
base_url = "${baseUrl}"
model = "small"
`;
  const files = { [`src/${kind}.ts`]: source, "src/index.ts": index, [`agents/${kind}.toml`]: agent, ".dev.vars": "MODEL_KEY=a-key-of-tests\n" };
  return makeProject({ files });
}

const clientOf = (url: string, slug: string): Promise<Client> => new ClientFactory().createFromUrl(`${url}/${slug}/`, ".well-known/agent-card.json");
