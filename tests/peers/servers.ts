// A foreign server of A2A, called by our client for the command line (crates/a2a/examples/call.rs).

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { folder, startPython } from "../e2e/servers/walk.ts";

/** Has our client call a server in Python that says again what it is told, fails at `fail`, and works at `slow` until it is canceled. */
export async function answersOurClient(interpreter: string, program: string): Promise<void> {
  const server = await startPython(interpreter, program);
  const call = (...args: string[]) => {
    const { status, stdout, stderr } = spawnSync(join(folder, "call"), args, { encoding: "utf8", timeout: 60_000 });
    return { code: status, told: stdout.trim(), log: stderr };
  };
  try {
    assert.match(call("card", server.url).told, /Sample/);
    const sent = call("send", server.url, "hello");
    assert.deepEqual([sent.code, sent.told], [0, "hello"], sent.log);
    const id = /\[completed\] task (\S+)/.exec(sent.log)?.[1] ?? "";
    assert.match(call("get", server.url, id, "--json").told, /"TASK_STATE_COMPLETED"/);
    assert.equal(call("get", server.url, "nobody").code, 1);
    assert.equal(call("send", server.url, "fail").code, 1);
    // It is canceled when the time is over.
    const slow = call("send", server.url, "slow", "--timeout", "1");
    assert.equal(slow.code, 6, slow.log);
    const held = /task (\S+)/.exec(slow.log)?.[1] ?? "";
    assert.match(call("get", server.url, held, "--json").told, /"TASK_STATE_CANCELED"/);
  } finally {
    await server.stop();
  }
}
