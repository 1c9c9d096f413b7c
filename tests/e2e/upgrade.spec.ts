// This version reads and continues the stored and sent data of earlier releases: tests/fixtures contains the data, docs/upgrades.md
// describes how it was made.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { messagesOf, readFixture, releases, removeAlarm, restoreFixture } from "../upgrade/fixture.ts";
import { EXTENSION, modelVars, openModel, sceneVars, type Answers, type Deliveries, type Shown, type Webhook } from "../upgrade/scenes.ts";
import { Agent, followUp, isTerminal, message, textOf, until, untilEnded, type TaskList } from "./client.ts";
import { startWorker, type Worker } from "./harness.ts";
import type { ModelServer } from "./model-server.ts";
import { Sink } from "./sink.ts";
import { artifactOf, attemptOf, doneBy, logOf } from "./steps.ts";
import { contents, subscribe } from "./stream.ts";
import type { Timeline } from "./timelines.ts";

test("there is a fixture", () => assert.ok(releases.length > 0));

for (const release of releases) {
  describe(`what release ${release} left`, () => {
    let worker: Worker;
    let sink: Sink;
    let model: ModelServer;
    let storage: string;
    let answers: Answers;
    const agentOf = ({ agent }: { agent: string }, headers = {}): Agent => new Agent(`${worker.url}/${agent}`, headers);
    const scene = (name: string): Shown => {
      const shown = answers.tasks[name];
      assert.ok(shown !== undefined, `the fixture has the scene ${name}`);
      return shown;
    };

    before(async () => {
      sink = await Sink.open();
      model = await openModel();
      sink.plan("/workingToCancel/2", "hold");
      storage = mkdtempSync(join(tmpdir(), "a2a-edge-upgrade-"));
      const vars = { ...sceneVars, ...modelVars(model), KEEP_ALIVE_MS: "1000", WEBHOOK_RETRY_MS: "100", WEBHOOK_TIMEOUT_MS: "20000", INDEX_WAIT_MS: "30000" };
      // Creates the folders, whose files are then replaced by those of the release.
      await (await startWorker({ persist: storage, vars })).stop();
      restoreFixture(release, storage, sink.url);
      answers = readFixture<Answers>(release, sink.url).answers;
      removeAlarm(storage, scene("webhooks").task.id);
      worker = await startWorker({ persist: storage, vars });
    });
    after(async () => {
      await worker.stop();
      sink.close();
      model.stop();
      rmSync(storage, { recursive: true, force: true });
    });

    test("tasks at rest are as the release showed them, and so are their events (§3.1.3, §3.1.6)", async () => {
      const atRest = ["finished", "failed", "rejected", "auth", "canceled", "turns", "large", "owed", "tool1", "tool2", "tool3", "tool4"];
      for (const name of atRest) {
        const { task, log, ...shown } = scene(name);
        assert.deepEqual(await agentOf(shown).getTask(task.id), task, name);
        if (isTerminal(task.status.state)) assert.deepEqual(contents(await logOf(agentOf(shown).endpoint, task.id)), log, name);
      }
    });

    test("a stream resumes after any generation of before (§3.1.6)", async () => {
      const { task, log, ...shown } = scene("finished");
      for (const [generation] of log.slice(0, -1)) {
        const stream = await subscribe(agentOf(shown).endpoint, task.id, generation);
        assert.deepEqual(contents(await stream.rest()), log.slice(generation));
      }
    });

    test("a run that was under way goes on, though nobody asks, with no step done twice that was done", async () => {
      const { task, log, ...shown } = scene("working");
      const seen = log.length;
      await sink.arrival("/working/5");
      const follower = await subscribe(agentOf(shown).endpoint, task.id, seen);
      assert.equal((await follower.next()).id, seen + 1);
      const ended = await untilEnded(agentOf(shown), task.id);
      assert.deepEqual(doneBy(sink.arrivals("/working")), ["3@2", "4@2", "5@2"]);
      assert.equal(textOf(ended.artifacts?.[0]), artifactOf(5));
      assert.equal(attemptOf(ended), 2);
      assert.deepEqual(contents(await logOf(agentOf(shown).endpoint, task.id)).slice(0, seen), log);
      const waiting = scene("waiting");
      assert.equal((await untilEnded(agentOf(waiting), waiting.task.id)).status.state, "TASK_STATE_COMPLETED");
    });

    test("a task that waits for an answer, or is at work, can be canceled (§3.1.5)", async () => {
      for (const name of ["inputToCancel", "workingToCancel"]) {
        const { task, ...shown } = scene(name);
        assert.equal((await agentOf(shown).cancelTask(task.id)).status.state, "TASK_STATE_CANCELED", name);
      }
    });

    test("a question is answered (§3.4.3)", async () => {
      const { task, ...shown } = scene("input");
      assert.deepEqual(await agentOf(shown).getTask(task.id), task);
      const ended = await agentOf(shown).sendForTask(followUp(task, "green"));
      assert.equal(ended.status.state, "TASK_STATE_COMPLETED");
      assert.deepEqual(ended.history?.map(textOf), ["ask", "Which colour?", "green"]);
      const { entries } = await agentOf(shown).call<Timeline>("GetTaskTimeline", { id: task.id });
      const said = entries.findIndex(({ kind }) => kind === "message");
      assert.deepEqual([entries[0]?.kind, entries[0]?.generation, said > 1], ["task", 1, true]);
      assert.ok(entries.slice(said).every(({ at }) => (at ?? 0) > Date.now() - 60_000), JSON.stringify(entries));
    });

    test("an ended task takes no message (§4.1.3)", async () => {
      const { task, ...shown } = scene("finished");
      await assert.rejects(agentOf(shown).send(followUp(task, "more")), { code: -32004 });
    });

    test("a run that was parked is still, and goes on by a message (§3.4.3)", async () => {
      const { task, log, ...shown } = scene("parked");
      assert.deepEqual(await agentOf(shown).getTask(task.id), task);
      const ended = await agentOf(shown).sendForTask(followUp(task, "go on"));
      assert.equal(ended.status.state, "TASK_STATE_COMPLETED");
      assert.equal(attemptOf(ended), 1);
      assert.deepEqual(contents(await logOf(agentOf(shown).endpoint, task.id)).slice(0, log.length), log);
    });

    test("a callback takes what it may still take", async () => {
      const { task, ...shown } = scene("called");
      assert.deepEqual(await agentOf(shown).getTask(task.id), task);
      const { pathname } = new URL((task.artifacts?.[0]?.parts[0]?.data as { url: string }).url);
      const post = async (body: string, key: string): Promise<number> => {
        const answer = await fetch(`${worker.url}${pathname}`, { method: "POST", body, headers: { "idempotency-key": key } });
        await answer.text();
        return answer.status;
      };
      assert.deepEqual([await post("paid", "text/plain"), await post("last", "last"), await post("more", "more")], [202, 202, 404]);
      const ended = await untilEnded(agentOf(shown), task.id);
      assert.deepEqual(ended.artifacts?.map(textOf), ["", "paid", "", "last"]);
    });

    test("a send under a key is still known", async () => {
      const { task, sent, ...shown } = scene("idempotent");
      const keyed = agentOf(shown, { "idempotency-key": answers.key });
      assert.deepEqual(await keyed.sendForTask(sent), task);
      await assert.rejects(keyed.sendForTask(message("another")), { code: -32602 });
    });

    test("pages and their tokens are the same (§3.1.4)", async () => {
      for (const { params, page } of answers.pages) assert.deepEqual(await agentOf(scene("tool1")).listTasks(params), page);
    });

    test("a row that the index was owed is written, though nobody asks (§3.1.4)", async () => {
      const { task, ...shown } = scene("owed");
      const list = (): Promise<TaskList> => agentOf(shown).listTasks({ contextId: task.contextId });
      const { tasks } = await until(list, ({ totalSize }) => totalSize > 0);
      assert.deepEqual(tasks.map(({ id }) => id), [task.id]);
    });

    test("what turns have used is counted once, though nobody asks, and summed on", async () => {
      const database = await worker.d1();
      const sums = async () => {
        const sql = "SELECT sum(turns) AS turns, sum(input_tokens + output_tokens) AS tokens FROM usage WHERE agent = 'thinker'";
        return (await database.prepare(sql).run<{ turns: number; tokens: number }>()).results[0];
      };
      await until(sums, (sum) => sum?.turns === 2);
      const { task, ...shown } = scene("metered");
      const ended = await agentOf(shown).sendForTask(followUp(task, "5"));
      const told = (ended.metadata as Record<string, { requests: number } | undefined>)["urn:a2a-edge:usage"];
      assert.equal(told?.requests, 2);
      assert.deepEqual(await sums(), { turns: 3, tokens: 55 });
    });

    test("a message of the queue is taken, and webhooks get what they are owed, once and in order (§4.3)", async () => {
      const { task, log, ...shown } = scene("webhooks");
      const demo = agentOf(shown, { "a2a-extensions": EXTENSION });
      const configOf = (path: string): Webhook => {
        const found = answers.webhooks.find(({ config }) => config.url === `${sink.url}${path}`);
        assert.ok(found !== undefined, path);
        return found.config;
      };
      const failing = configOf("/failing");
      const job = messagesOf(release, sink.url).find(({ kind, text }) => kind === "job" && text.includes(failing.id));
      await worker.enqueue("WEBHOOKS", job?.text ?? "");
      for (const path of ["/failing", "/silent"]) {
        for (const [nth, generation] of [[1, 4], [2, 5]] as const) {
          const arrival = await sink.arrival(path, nth);
          assert.equal(arrival.headers["webhook-id"], `${task.id}.${configOf(path).id}.${generation}`);
          assert.deepEqual(arrival.json(), log[generation - 1]?.[1]);
          assert.equal(typeof arrival.headers["webhook-signature"], "string");
        }
      }
      await demo.sendForTask(followUp(task, "grey"));
      await sink.arrival("/artifacts");
      const ended = await sink.arrival("/delivered", 3);
      assert.deepEqual([ended.headers["authorization"], ended.headers["x-a2a-notification-token"]], ["Bearer of-the-receiver", "token-of-the-client"]);
      assert.deepEqual(sink.arrivals("/delivered").map(({ headers }) => headers["a2a-generation"]), ["6", "7", "8"]);
      assert.equal(sink.count("/gone"), 0);
      for (const { config, deliveries } of answers.webhooks) {
        assert.deepEqual(await demo.call("GetTaskPushNotificationConfig", { taskId: task.id, id: config.id }), config);
        const now = await demo.call<Deliveries>("ListTaskPushNotificationDeliveries", { taskId: task.id, id: config.id });
        assert.deepEqual(now.attempts.slice(0, deliveries.attempts.length), deliveries.attempts, config.url);
      }
    });

    test("a dead letter is told to the operators", async () => {
      const letter = messagesOf(release, sink.url).find(({ kind }) => kind === "deadLetter")?.text ?? "";
      await worker.enqueue("DEAD_LETTERS", letter);
      await until(async () => worker.logs, (logs) => logs.some(({ message: line }) => line.includes(JSON.stringify(letter))));
    });
  });
}
