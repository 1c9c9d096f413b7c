// The client for the command line (crates/a2a/examples/call.rs) with our own server, in every version over each
// binding.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { speakingEarly } from "./early-client.ts";
import { startWorker, type Worker } from "./harness.ts";
import { folder } from "./servers/walk.ts";
import { until } from "./client.ts";

let worker: Worker;
before(async () => {
  worker = await startWorker({ vars: speakingEarly() });
});
after(() => worker.stop());

for (const version of ["1.0", "0.3", "0.1"]) {
  for (const binding of ["JSONRPC", "HTTP+JSON"]) {
    const isPlain = version === "0.1" && binding === "HTTP+JSON";

    test(`the client sends, answers a question, gets, cancels and lists in ${version} over ${binding}`, async () => {
      const url = `${worker.url}/demo`;
      const call = (command: string, ...args: string[]) => {
        const all = [command, url, ...args, "--version", version, "--binding", binding];
        const { status, stdout, stderr } = spawnSync(join(folder, "call"), all, { encoding: "utf8", timeout: 60_000 });
        return { code: status, told: stdout.trim(), log: stderr };
      };
      const taskOf = (log: string): string => /task (\S+)/.exec(log)?.[1] ?? "";

      const sent = call("send", "hello");
      assert.deepEqual([sent.code, sent.told], [0, "hello"], sent.log);
      const got = call("get", taskOf(sent.log), "--json");
      assert.match(got.told, /"TASK_STATE_COMPLETED"/, got.log);

      const asked = call("send", "ask");
      assert.deepEqual([asked.code, asked.told], [3, "Which colour?"], asked.log);
      const answered = call("send", "red", "--task", taskOf(asked.log));
      const canceled = call("cancel", taskOf(call("send", "ask").log));
      // The row may be written after the end of its task.
      const listed = await until(async () => call("list"), ({ told }) => version !== "1.0" || told.includes(taskOf(sent.log)));
      if (isPlain) {
        assert.match(answered.log, /A2A 0\.1 over HTTP\+JSON has no Send\w+ for a task that has begun/);
        assert.match(canceled.log, /A2A 0\.1 over HTTP\+JSON has no CancelTask/);
      } else {
        assert.deepEqual([answered.code, taskOf(answered.log)], [0, taskOf(asked.log)], answered.log);
        assert.equal(canceled.code, 0, canceled.log);
      }
      if (version !== "1.0") assert.match(listed.log, /has no ListTasks/);
      assert.match(call("get", "nobody").log, /task not found \(-32001\)/i);
    });
  }
}
