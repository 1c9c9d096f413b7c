// A dialog that asks for confirmation before an action that cannot be undone.
import { useState } from "preact/hooks";
import type { ComponentChildren } from "preact";
import { Dialog } from "./dialog.tsx";
import { ProblemBox } from "./problem.tsx";

interface ConfirmProps {
  title: string;
  /** The labels of the two buttons: for cancelling and for the action. */
  leave: string;
  act: string;
  /** The action. An exception is shown, and the dialog stays open. */
  action: () => Promise<void>;
  close: () => void;
  /** The description of the action and its consequences. */
  children: ComponentChildren;
}

export function ConfirmDialog({ title, leave, act, action, close, children }: ConfirmProps) {
  const [problem, setProblem] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const confirm = () => {
    setBusy(true);
    action().then(close, (error: unknown) => (setProblem(error), setBusy(false)));
  };
  return (
    <Dialog title={title} close={close}>
      <div class="stack">
        <p>{children}</p>
        {problem !== undefined && <ProblemBox problem={problem} />}
        <div class="actions">
          <button type="button" onClick={close}>
            {leave}
          </button>
          <button type="button" class="danger" disabled={isBusy} onClick={confirm}>
            {act}
          </button>
        </div>
      </div>
    </Dialog>
  );
}
