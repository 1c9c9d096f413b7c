// Which request asks what of whom, and which fault happens to it: dev/operation.js and dev/double.js.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Doubles, isFor } from "../../dev/double.js";
import { readAsked } from "../../dev/operation.js";

describe("what a request asks", () => {
  const asked = (method, path, body) => {
    const read = readAsked(method, path, body === undefined ? undefined : JSON.stringify(body));
    return read === undefined ? undefined : [read.agent, read.operation, read.taskId];
  };

  test("is told by its path over HTTP+JSON, in every version", () => {
    for (const [method, path, expected] of [
      ["POST", "/message:send", [null, "SendMessage", null]],
      ["POST", "/demo/message:stream", ["demo", "SendStreamingMessage", null]],
      ["POST", "//message:send", [null, "SendMessage", null]],
      ["POST", "/demo/v1/message:send", ["demo", "SendMessage", null]],
      ["POST", "/a2a/tasks/send", [null, "SendMessage", null]],
      ["POST", "/demo/a2a/tasks/send", ["demo", "SendMessage", null]],
      ["GET", "/demo/tasks", ["demo", "ListTasks", null]],
      ["GET", "/tasks/t", [null, "GetTask", "t"]],
      ["GET", "/demo/v1/tasks/t%2F1", ["demo", "GetTask", "t/1"]],
      ["POST", "/demo/tasks/t:cancel", ["demo", "CancelTask", "t"]],
      ["GET", "/demo/tasks/t:subscribe", ["demo", "SubscribeToTask", "t"]],
      ["GET", "/demo/tasks/t/pushNotificationConfigs/c/deliveries", ["demo", "ListTaskPushNotificationDeliveries", "t"]],
      ["POST", "/demo/tasks/t/pushNotificationConfigs/c:redeliver", ["demo", "RedeliverTaskPushNotifications", "t"]],
      ["DELETE", "/demo/tasks/t/pushNotificationConfigs/c", ["demo", "DeleteTaskPushNotificationConfig", "t"]],
      ["GET", "/demo/extendedAgentCard", ["demo", "GetExtendedAgentCard", null]],
      ["GET", "/agent/authenticatedExtendedCard", [null, "GetExtendedAgentCard", null]],
      ["PUT", "/demo/tasks/t", ["demo", null, "t"]],
      ["GET", "/.well-known/agent-card.json", [null, "card", null]],
      ["GET", "/demo/.well-known/agent.json", ["demo", "card", null]],
      ["GET", "/", undefined],
      ["GET", "/console/api/agents", undefined],
      ["GET", "/demo/overview", undefined],
      ["POST", "/demo/mcp", undefined],
    ]) {
      assert.deepEqual(asked(method, path), expected, `${method} ${path}`);
    }
  });

  test("is told by its method over JSON-RPC, in every version", () => {
    for (const [path, body, expected] of [
      ["/demo", { method: "SendMessage", params: { message: { taskId: "t" } } }, ["demo", "SendMessage", "t"]],
      ["/", { method: "tasks/get", params: { id: "t" } }, [null, "GetTask", "t"]],
      ["/demo/a2a", { method: "tasks/sendSubscribe", params: { id: "t" } }, ["demo", "SendStreamingMessage", "t"]],
      ["/subscribe", { method: "tasks/sendSubscribe" }, [null, "SendStreamingMessage", null]],
      ["/", { method: "GetTask", params: { tenant: "demo", id: "t" } }, ["demo", "GetTask", "t"]],
      ["/demo", { method: "constructor" }, ["demo", null, null]],
      ["/demo", { method: 5, params: 6 }, ["demo", null, null]],
      ["/demo", [], ["demo", null, null]],
      ["/demo", undefined, ["demo", null, null]],
    ]) {
      assert.deepEqual(asked("POST", path, body), expected, `${path} ${JSON.stringify(body)}`);
    }
  });
});

test("a fault is for the requests that it names", () => {
  for (const [fault, operation, body, expected] of [
    [{ status: 500 }, "SendMessage", "", true],
    [{ status: 500 }, "card", "", false],
    [{ status: 500 }, null, "", true],
    [{ status: 500, on: ["card"] }, "card", "", true],
    [{ status: 500, on: ["GetTask", "CancelTask"] }, "CancelTask", "", true],
    [{ status: 500, on: ["GetTask"] }, "SendMessage", "", false],
    [{ status: 500, on: ["GetTask"] }, null, "", false],
    [{ status: 500, containing: "pay" }, "SendMessage", "please pay", true],
    [{ status: 500, containing: "pay" }, "SendMessage", "please", false],
    [{ card: { name: "x" } }, "card", "", true],
    [{ card: { name: "x" } }, "SendMessage", "", false],
    [{ card: { name: "x" } }, null, "", false],
    [{ card_without: ["name"] }, "card", "", true],
    [{ card_without: ["name"] }, "GetTask", "", false],
  ]) {
    assert.equal(isFor(fault, operation, body), expected, `${JSON.stringify(fault)} ${operation}`);
  }
});

test("the first fault that is not used up happens, and another script is counted anew", async () => {
  const faults = [{ status: 500, times: 2, on: ["SendMessage"] }, { status: 501, times: 1 }, { status: 502, on: ["GetTask"] }];
  const doubles = new Doubles(async () => Response.json({ default: "demo", scripts: { demo: { rules: [] }, double: { rules: [], faults } } }));
  const statuses = async () => {
    const taken = [];
    for (const operation of ["SendMessage", "GetTask", "SendMessage", "SendMessage", "GetTask", "card"]) {
      const { fault } = await doubles.take({ agent: "double", operation, taskId: null, message: null }, "");
      taken.push(fault?.status);
    }
    return taken;
  };
  const expected = [500, 501, 500, undefined, 502, undefined];
  assert.deepEqual(await statuses(), expected);
  await doubles.set("double", { faults });
  assert.deepEqual(await statuses(), expected);
  await doubles.set("double", {});
  assert.deepEqual(await statuses(), Array(6).fill(undefined));
  assert.deepEqual(await doubles.take({ agent: null, operation: "GetTask", taskId: null, message: null }, ""), { agent: "demo", fault: undefined });
});
