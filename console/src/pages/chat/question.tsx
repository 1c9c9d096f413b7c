// The question of an agent, with a form for the answer.
import { useState } from "preact/hooks";
import { CREDENTIALS_MEDIA_TYPE, type Message, type Part, type TaskState } from "../../api/types.ts";
import { isFormSchema, type Schema } from "../../api/schemas.ts";
import { SchemaForm } from "./form.tsx";

/** The schema of the requested answer, if a part of the message contains one. */
export function schemaIn(message: Message | undefined): Schema | undefined {
  const data = message?.parts.find((part) => isFormSchema(part.data))?.data;
  return data === undefined ? undefined : (data as Schema);
}

/** The form for a question; nothing if the answer is a text. `answer` sends parts to the task with the question. */
export function Question({ state, message, answer, isSending }: { state: TaskState; message: Message | undefined; answer: (parts: Part[]) => void; isSending: boolean }) {
  if (state === "TASK_STATE_AUTH_REQUIRED") return <Credentials answer={answer} isSending={isSending} />;
  const schema = schemaIn(message);
  if (schema === undefined) return <p class="quiet">Answer below.</p>;
  const canDecline = message?.parts.some(({ text }) => text?.includes('{"action": "decline"}')) === true;
  return (
    <div class="question">
      <SchemaForm key={message?.messageId} schema={schema} label="Answer to the agent" action="Answer" submit={(data) => answer([{ data }])}>
        {canDecline && (
          <button type="button" disabled={isSending} onClick={() => answer([{ data: { action: "decline" } }])}>
            Decline
          </button>
        )}
      </SchemaForm>
    </div>
  );
}

/** Credentials for a service that the agent calls: a part that is not stored with the message (docs/calling.md). */
function Credentials({ answer, isSending }: { answer: (parts: Part[]) => void; isSending: boolean }) {
  const [name, setName] = useState("token");
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const value = new FormData(form).get("value");
    if (typeof value !== "string" || value === "") return;
    form.reset();
    answer([{ mediaType: CREDENTIALS_MEDIA_TYPE, data: { [name]: value } }]);
  };
  return (
    <details class="question">
      <summary>Send credentials</summary>
      <form class="schema-form" aria-label="Credentials for the task" onSubmit={submit}>
        <p class="quiet">For an agent that asks for a member of credentials, as a2a-edge's do. They are kept out of the conversation. Others want a message: answer below.</p>
        <div class="field-pair">
          <label>
            Name
            <input value={name} required autocomplete="off" onInput={(event) => setName(event.currentTarget.value)} />
          </label>
          <label>
            Value
            <input name="value" type="password" required autocomplete="off" />
          </label>
        </div>
        <div class="actions">
          <button type="submit" class="primary" disabled={isSending}>
            Send credentials
          </button>
        </div>
      </form>
    </details>
  );
}
