// The dialog that sends a test notification to a webhook, and shows how the receiver answered.
import { useState } from "preact/hooks";
import { Dialog } from "../../parts/dialog.tsx";
import { ProblemBox } from "../../parts/problem.tsx";
import { Badge } from "../../parts/state.tsx";
import { hostOf } from "../../parts/words.ts";
import { sendTest, type TestResult, type WebhookConfig } from "./api.ts";
import { Answer } from "./sent.tsx";

export function TestDialog({ agent, task, config, close }: { agent: string; task: string; config: WebhookConfig; close: () => void }) {
  const [result, setResult] = useState<TestResult>();
  const [problem, setProblem] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const send = async () => {
    setBusy(true);
    setProblem(undefined);
    setResult(undefined);
    try {
      setResult(await sendTest(agent, task, config.id));
    } catch (error) {
      setProblem(error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Dialog title="Send a test" close={close}>
      <div class="stack">
        <p>
          <strong>
            <bdi>{hostOf(config.url)}</bdi>
          </strong>{" "}
          gets one notification with the present state of the task, signed like any other and marked as a test. It has generation 0, and changes nothing of what the
          webhook is owed.
        </p>
        <div role="status" class="stack">
          {isBusy && <p>The receiver is called…</p>}
          {result !== undefined && (
            <>
              <p>
                <Badge tone={result.outcome === "delivered" ? "good" : "bad"}>{result.outcome === "delivered" ? "Delivered" : "Failed"}</Badge>
              </p>
              <Answer of={result} isKept />
            </>
          )}
        </div>
        {problem !== undefined && <ProblemBox problem={problem} />}
        <div class="actions">
          <button type="button" onClick={close}>
            Close
          </button>
          <button type="button" class="primary" aria-disabled={isBusy} onClick={() => isBusy || void send()}>
            {result === undefined ? "Send" : "Send another"}
          </button>
        </div>
      </div>
    </Dialog>
  );
}
