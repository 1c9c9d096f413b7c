// The paths of the HTTP+JSON binding (spec §11.3): those of agents, tenants and ids, their methods, and their versions.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { message, type Task } from "./client.ts";
import { startWorker, type Worker } from "./harness.ts";
import { call, failure, fieldsOf, getTask, JSON_TYPE, send } from "./rest.ts";

let worker: Worker;
let demo: string;
before(async () => {
  worker = await startWorker();
  demo = `${worker.url}/demo`;
});
after(() => worker.stop());

describe("agents and tenants", () => {
  for (const [path, artifact] of [
    ["", "echo-result"],
    ["/", "echo-result"],
    ["/assistant", "echo-result"],
    ["/assistant/assistant", "echo-result"],
    ["/demo", "echo"],
    ["/demo/", "echo"],
    ["/demo/demo", "echo"],
  ] as const) {
    test(`"${path}/message:send" and what is below reach the agent (§11.3)`, async () => {
      const base = worker.url + path;
      const task = await send(base, "hello");
      assert.equal(task.artifacts?.[0]?.artifactId, artifact);
      assert.deepEqual(await getTask(base, task.id), task);
    });
  }

  test("the tenant of a body or a query counts where the path names none (§3.2.1)", async () => {
    const response = await call("POST", `${worker.url}/message:send`, { tenant: "demo", message: message("hello") });
    const { task } = (await response.json()) as { task: Task };
    assert.equal(task.artifacts?.[0]?.artifactId, "echo");
    assert.equal((await call("GET", `${worker.url}/tasks/${task.id}?tenant=demo`)).status, 200);
    assert.equal((await call("GET", `${worker.url}/tasks/${task.id}?tenant=`)).status, 404);
    assert.equal((await call("GET", `${worker.url}/tasks/${task.id}`)).status, 404);
  });

  test("the tenant of the path goes before that of the body and the query (§11.3)", async () => {
    const response = await call("POST", `${demo}/message:send`, { tenant: "assistant", message: message("hello") });
    const { task } = (await response.json()) as { task: Task };
    assert.equal(task.artifacts?.[0]?.artifactId, "echo");
    assert.equal((await call("GET", `${demo}/tasks/${task.id}?tenant=assistant&id=x`)).status, 200);
  });

  test("another agent does not find the task (§3.3.2)", async () => {
    const { id } = await send(demo, "ask");
    for (const base of [worker.url, `${worker.url}/assistant`]) {
      await failure(await call("GET", `${base}/tasks/${id}`), 404, "NOT_FOUND", "TASK_NOT_FOUND");
      await failure(await call("POST", `${base}/tasks/${id}:cancel`), 404, "NOT_FOUND", "TASK_NOT_FOUND");
    }
    assert.equal((await getTask(demo, id)).status.state, "TASK_STATE_INPUT_REQUIRED");
  });

  test("an agent that is not there is named by a clear error (§11.6)", async () => {
    const { message: text } = await failure(await call("POST", `${worker.url}/nobody/message:send`, { message: message("x") }), 404, "NOT_FOUND", "NOT_FOUND");
    assert.match(text, /\/demo/, "says which agents there are");
    for (const [verb, path] of [["POST", "/demo/assistant/message:send"], ["GET", "/demo/nobody/tasks/x"], ["GET", "/tasks/x?tenant=nobody"]] as const) {
      const body = verb === "POST" ? { message: message("x") } : undefined;
      const error = await failure(await call(verb, worker.url + path, body), 400, "INVALID_ARGUMENT", "INVALID_PARAMS");
      assert.deepEqual(fieldsOf(error), ["tenant"], path);
    }
  });
});

describe("ids", () => {
  test("percent-encoded ones are found (§11.3)", async () => {
    const { id } = await send(demo, "ask");
    const encoded = [...id].map((letter) => `%${letter.charCodeAt(0).toString(16)}`).join("");
    assert.equal((await getTask(demo, encoded)).id, id);
    assert.equal(((await (await call("POST", `${demo}/tasks/${encoded}:cancel`)).json()) as Task).id, id);
  });

  for (const id of ["a/b", "a b", "a?b#c", "ünï ✓", "a:b", "x:cancel", "100%", "%2F", "tasks", "a/pushNotificationConfigs/b", "\u0000", "'\"<>", "a".repeat(4000)]) {
    test(`the unknown id ${JSON.stringify(id.slice(0, 40))} is not found, and comes back as it was (§11.3)`, async () => {
      for (const [verb, suffix] of [["GET", ""], ["POST", ":cancel"], ["GET", ":subscribe"]] as const) {
        const response = await call(verb, `${demo}/tasks/${encodeURIComponent(id)}${suffix}`);
        const { details } = await failure(response, 404, "NOT_FOUND", "TASK_NOT_FOUND");
        assert.equal(details[0]?.metadata?.["taskId"], id);
      }
    });
  }

  test("an empty one is refused (§11.3)", async () => {
    for (const [verb, path] of [["GET", "tasks/"], ["POST", "tasks/:cancel"]] as const) {
      const error = await failure(await call(verb, `${demo}/${path}`), 400, "INVALID_ARGUMENT", "INVALID_PARAMS");
      assert.deepEqual(fieldsOf(error), ["id"]);
    }
  });

  test("broken escapes are taken as they stand (§11.3)", async () => {
    for (const path of ["tasks/%", "tasks/%zz", "tasks/%ff%fe"]) {
      await failure(await call("GET", `${demo}/${path}`), 404, "NOT_FOUND", "TASK_NOT_FOUND");
    }
  });
});

describe("verbs and paths", () => {
  for (const [path, allowed] of [
    ["message:send", "POST"],
    ["message:stream", "POST"],
    ["tasks", "GET"],
    ["tasks/t", "GET, DELETE"],
    ["tasks/t:cancel", "POST"],
    ["tasks/t:subscribe", "GET, POST"],
    ["tasks/t/pushNotificationConfigs", "GET, POST"],
    ["tasks/t/pushNotificationConfigs/c", "GET, DELETE"],
    ["tasks/t/pushNotificationConfigs/c/deliveries", "GET"],
    ["tasks/t/pushNotificationConfigs/c:redeliver", "POST"],
    ["tasks/t/pushNotificationConfigs/c:test", "POST"],
    ["tasks/t/pushNotificationConfigs/c:verify", "POST"],
    ["extendedAgentCard", "GET"],
  ] as const) {
    test(`${path} takes ${allowed} and says so to others (§11.3)`, async () => {
      for (const base of [worker.url, demo, `${demo}/demo`]) {
        for (const verb of ["GET", "POST", "PUT", "PATCH", "DELETE"].filter((verb) => !allowed.split(", ").includes(verb))) {
          const response = await call(verb, `${base}/${path}`);
          assert.equal(response.headers.get("allow"), `${allowed}, OPTIONS`, verb);
          await failure(response, 405, "INVALID_ARGUMENT", "METHOD_NOT_ALLOWED");
        }
        const options = await fetch(`${base}/${path}`, { method: "OPTIONS" });
        assert.equal(options.status, 204);
        assert.equal(options.headers.get("allow"), `${allowed}, OPTIONS`);
        assert.equal(options.headers.get("access-control-allow-origin"), "*");
      }
    });
  }

  for (const path of ["/message", "/message:poke", "/message:send/", "/task/x", "/tasks/a/b", "/tasks/a/pushNotificationConfigs/b/c", "/demo/x/y/tasks", "/demo/Tasks", "/demo/card"]) {
    test(`there is nothing at ${path} (§11.6)`, async () => {
      for (const verb of ["GET", "POST"]) {
        await failure(await call(verb, worker.url + path, verb === "POST" ? {} : undefined), 404, "NOT_FOUND", "NOT_FOUND");
      }
    });
  }
});

describe("versions", () => {
  for (const [header, status] of [["1.0", 200], ["1.0.3", 200], ["", 200], [undefined, 200], ["1.1", 400], ["1.7", 400], ["0.3", 400], ["99.0", 400], ["0.5", 400], ["abc", 400]] as const) {
    test(`A2A-Version ${header === undefined ? "left out" : `"${header}"`} is answered with ${status} (§3.6.2)`, async () => {
      const headers: Record<string, string> = { "content-type": JSON_TYPE, ...(header === undefined ? {} : { "a2a-version": header }) };
      const body = JSON.stringify({ message: message("hello") });
      const response = await fetch(`${demo}/message:send`, { method: "POST", headers, body });
      if (status === 200) assert.equal(response.status, 200);
      else await failure(response, status, "FAILED_PRECONDITION", "VERSION_NOT_SUPPORTED");
    });
  }

  test("the query may say the version (§3.6.1)", async () => {
    await failure(await fetch(`${demo}/tasks/x?A2A-Version=99.0`), 400, "FAILED_PRECONDITION", "VERSION_NOT_SUPPORTED");
    await failure(await fetch(`${demo}/tasks/x?A2A-Version=1.0`), 404, "NOT_FOUND", "TASK_NOT_FOUND");
  });

  test("a version must be said where STRICT_VERSION is set, but not in a preflight (§3.6.2)", async (t) => {
    const strict = await startWorker({ vars: { STRICT_VERSION: "true" } });
    t.after(() => strict.stop());
    await failure(await fetch(`${strict.url}/tasks/x`), 400, "FAILED_PRECONDITION", "VERSION_NOT_SUPPORTED");
    await failure(await call("GET", `${strict.url}/tasks/x`), 404, "NOT_FOUND", "TASK_NOT_FOUND");
    assert.equal((await fetch(`${strict.url}/tasks/x`, { method: "OPTIONS" })).status, 204);
  });
});
