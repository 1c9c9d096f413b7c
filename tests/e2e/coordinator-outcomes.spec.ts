// The results of other agents' tasks for a model that calls these agents, and for the model's own user (docs/models.md, "Other
// agents").
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { followUp, textOf, type Task } from "./client.ts";
import { call, calls, say, type ModelServer } from "./model-server.ts";
import { nothingIsLeft, unfinished, withTeam } from "./teams.ts";

const team = withTeam(
  { impatient: ["hurried-sleeper", "far-hurried-sleeper"], notary: ["signer"], printer: ["maker"], editor: ["drafter"], clerk: ["far-asker"], reader: ["plain"] },
  { sleeper: 5000 },
);

const tools = (model: ModelServer): string[] => (model.last.body.tools ?? []).map(({ function: { name } }) => name);
const answerOf = ({ artifacts }: Task): string => textOf(artifacts?.find(({ artifactId }) => artifactId === "answer"));
/** The task id in a line for the model. */
const taskIn = (line: string): string => /:task_id=([^\]]+)\]/.exec(line)?.[1] ?? `none in ${line}`;

describe("an agent that does not end in time", () => {
  test("is canceled, which the model is told, and the user gets its answer", async () => {
    let round = 0;
    team.model.answerWith(() => {
      round += 1;
      const [here = "", there = ""] = tools(team.model);
      return round === 1 ? calls([[here, { prompt: "go" }, "here"], [there, { prompt: "go" }, "there"]]) : say("Both are asleep.");
    });
    const task = await team.of("impatient").sendForTask("go");
    assert.deepEqual([task.status.state, answerOf(task)], ["TASK_STATE_COMPLETED", "Both are asleep."], textOf(task.status.message));
    assert.deepEqual([team.told("here"), team.told("there")], ["[TIMEOUT]", "[TIMEOUT]"]);
    for (const sleeper of [team.of("sleeper"), team.far("sleeper")]) {
      await nothingIsLeft(sleeper);
      assert.deepEqual((await sleeper.listTasks()).tasks.map(({ status }) => status.state), ["TASK_STATE_CANCELED"]);
    }
  });
});

describe("an agent that wants credentials", () => {
  test("is told to the model, which hands it on to the user, and what the user says goes back to the same task", async () => {
    team.model.answers(call("signer", { prompt: "sign it" }), call("ask_user", { question: "The notary wants you to sign in." }));
    const asked = await team.of("notary").sendForTask("sign it");
    assert.deepEqual([asked.status.state, textOf(asked.status.message)], ["TASK_STATE_INPUT_REQUIRED", "The notary wants you to sign in."]);
    const line = team.told("call_signer");
    const waiting = await unfinished(team.of("signer"), "TASK_STATE_AUTH_REQUIRED");
    assert.equal(line, `[AUTH_REQUIRED:task_id=${waiting.id}] Please sign in.`);
    team.model.answers(call("signer", { prompt: "signed in", task_id: waiting.id }, "again"), say("It is signed."));
    const ended = await team.of("notary").sendForTask(followUp(asked, "I am signed in"));
    assert.deepEqual([ended.status.state, answerOf(ended)], ["TASK_STATE_COMPLETED", "It is signed."]);
    assert.equal(team.told("again"), "[COMPLETED] You said signed in.");
    const { status, history } = await team.of("signer").getTask(waiting.id);
    assert.equal(status.state, "TASK_STATE_COMPLETED");
    assert.deepEqual(history?.map(textOf), ["sign it", "Please sign in.", "signed in"]);
  });

  test("is canceled when the model answers without it", async () => {
    team.model.answers(call("signer", { prompt: "sign it" }), say("It wants credentials, which I do not have."));
    const task = await team.of("notary").sendForTask("sign it");
    assert.deepEqual([task.status.state, answerOf(task)], ["TASK_STATE_COMPLETED", "It wants credentials, which I do not have."]);
    await nothingIsLeft(team.of("signer"));
    assert.equal((await team.of("signer").getTask(taskIn(team.told("call_signer")))).status.state, "TASK_STATE_CANCELED");
  });
});

describe("an agent elsewhere that asks", () => {
  test("is answered by the model from what it knows, in the same task", async () => {
    team.model.answers(call("asker", { prompt: "a seat on Monday" }), (asked) => {
      const { content } = asked.body.messages.at(-1) ?? {};
      return call("asker", { prompt: "Monday", task_id: taskIn(String(content)) }, "again")(asked);
    }, say("It is booked."));
    const task = await team.of("clerk").sendForTask("a seat on Monday");
    assert.deepEqual([task.status.state, answerOf(task)], ["TASK_STATE_COMPLETED", "It is booked."]);
    assert.match(team.told("call_asker"), /^\[INPUT_REQUIRED:task_id=[^\]]+\] On which day\?$/);
    assert.equal(team.told("again"), "[COMPLETED] Booked for Monday.");
    assert.equal((await team.far("asker").getTask(taskIn(team.told("call_asker")))).status.state, "TASK_STATE_COMPLETED");
  });
});

describe("files that an agent gives", () => {
  test("are named to the model beside texts and data, and become an artifact for the user (§4.1.7)", async () => {
    team.model.answers(call("maker", { prompt: "make it" }), say("There it is."));
    const task = await team.of("printer").sendForTask("make it");
    assert.equal(
      team.told("call_maker"),
      '[COMPLETED] Made.\n{"pages":2}\nreport.pdf (application/pdf)\ndot.png (image/png): https://pictures.example/dot.png',
    );
    const [made] = (await team.of("maker").listTasks()).tasks;
    const [files, ...others] = task.artifacts ?? [];
    assert.deepEqual([files?.artifactId, files?.name], [`maker-${made?.id}`, "maker"]);
    assert.deepEqual(files?.parts, [
      { raw: "JVBERg==", filename: "report.pdf", mediaType: "application/pdf" },
      { url: "https://pictures.example/dot.png", filename: "dot.png", mediaType: "image/png" },
    ]);
    assert.deepEqual(others.map(({ artifactId }) => artifactId), ["answer"]);
    assert.equal(answerOf(task), "There it is.");
  });

  test("before it asks are there with the question, and none is there twice behind its end", async () => {
    const filesOf = ({ artifacts }: Task) => artifacts?.filter(({ artifactId }) => artifactId !== "answer").map(({ parts }) => parts.map(({ filename }) => filename));
    team.model.answers(call("drafter", { prompt: "write" }), call("ask_user", { question: "Do you like the draft?" }));
    const asked = await team.of("editor").sendForTask("write");
    assert.equal(asked.status.state, "TASK_STATE_INPUT_REQUIRED");
    assert.deepEqual(filesOf(asked), [["draft.txt"]]);
    team.model.answers(call("drafter", { prompt: "yes", task_id: taskIn(team.told("call_drafter")) }, "again"), call("drafter", { prompt: "another" }, "more"), say("Done."));
    const ended = await team.of("editor").sendForTask(followUp(asked, "yes"));
    assert.equal(ended.status.state, "TASK_STATE_COMPLETED", textOf(ended.status.message));
    assert.equal(team.told("again"), "[COMPLETED] It is final.\ndraft.txt (text/plain)\nfinal.txt (text/plain)");
    assert.deepEqual(filesOf(ended), [["draft.txt", "final.txt"], ["draft.txt"]], "an artifact for each task of the agent");
    await nothingIsLeft(team.of("drafter"));
  });

  test("with a message instead of a task are named and given alike (§3.1.1)", async () => {
    const url = `${team.sink.url}/plain/rpc`;
    const card = {
      name: "plain", description: "Answers at once.", version: "1.0.0", capabilities: {}, skills: [], defaultInputModes: [], defaultOutputModes: [],
      supportedInterfaces: [{ url, protocolBinding: "JSONRPC", protocolVersion: "1.0" }],
    };
    const parts = [{ text: "Read this." }, { data: { pages: 2 } }, { raw: "JVBERg==", filename: "report.pdf", mediaType: "application/pdf" }];
    const result = { message: { messageId: "m", role: "ROLE_AGENT", parts } };
    team.sink.otherwise = (arrival) => {
      const body = arrival.method === "GET" ? card : { jsonrpc: "2.0", id: arrival.json<{ id: string }>().id, result };
      return { headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
    };
    team.model.answers(call("plain", { prompt: "the report" }), say("There it is."));
    const task = await team.of("reader").sendForTask("the report");
    assert.equal(team.told("call_plain"), '[COMPLETED] Read this.\n{"pages":2}\nreport.pdf (application/pdf)');
    assert.deepEqual(task.artifacts?.[0]?.parts, [parts[2]]);
    assert.deepEqual(task.artifacts?.map(({ artifactId }) => artifactId), ["plain-1.1", "answer"]);
  });
});
