// The dialog that asks the server whether the signature of a received request is right.
import { useState } from "preact/hooks";
import { Dialog } from "../../parts/dialog.tsx";
import { ProblemBox } from "../../parts/problem.tsx";
import { Badge } from "../../parts/state.tsx";
import { hostOf, sentence } from "../../parts/words.ts";
import { verifySignature, type Checked, type WebhookConfig } from "./api.ts";
import { Field } from "./field.tsx";
import { signedHeaders } from "./signed.ts";

export function CheckDialog({ agent, task, config, close }: { agent: string; task: string; config: WebhookConfig; close: () => void }) {
  const [headers, setHeaders] = useState("");
  const [body, setBody] = useState("");
  const [result, setResult] = useState<Checked>();
  const [problem, setProblem] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const check = async (event: Event) => {
    event.preventDefault();
    if (isBusy) return;
    setBusy(true);
    setProblem(undefined);
    setResult(undefined);
    try {
      setResult(await verifySignature(agent, task, config.id, { headers: signedHeaders(headers), body }));
    } catch (error) {
      setProblem(error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Dialog title="Check a signature" close={close}>
      <form class="stack" autocomplete="off" onSubmit={(event) => void check(event)}>
        <p>
          Of a request that{" "}
          <strong>
            <bdi>{hostOf(config.url)}</bdi>
          </strong>{" "}
          has got. The server compares it with the signing secret, which stays there.
        </p>
        <Field label="Headers" hint="As your program or its log shows them. Only webhook-id, webhook-timestamp and webhook-signature are sent to the server." errors={[]}>
          {(input) => <textarea class="mono" rows={4} spellcheck={false} placeholder="webhook-id: …" value={headers} {...input} onInput={(event) => setHeaders(event.currentTarget.value)} />}
        </Field>
        <Field label="Body" hint="To the byte, as it came in." errors={[]}>
          {(input) => <textarea class="mono" rows={4} spellcheck={false} placeholder='{"statusUpdate":…}' value={body} {...input} onInput={(event) => setBody(event.currentTarget.value)} />}
        </Field>
        <div role="status" class="stack hook-tight">
          {result !== undefined && (
            <>
              <p>
                <Badge tone={result.isRight ? "good" : "bad"}>{result.isRight ? "Right" : "Not right"}</Badge>
              </p>
              <p>{result.reason !== undefined ? `${sentence(result.reason)}.` : "A receiver that refuses it has another secret, or changes the body before it verifies."}</p>
              {result.sameBytes !== undefined && <p>Its first {result.sameBytes} bytes are those that were sent.</p>}
            </>
          )}
        </div>
        {problem !== undefined && <ProblemBox problem={problem} />}
        <div class="actions">
          <button type="button" onClick={close}>
            Close
          </button>
          <button type="submit" class="primary" aria-disabled={isBusy}>
            Check
          </button>
        </div>
      </form>
    </Dialog>
  );
}
