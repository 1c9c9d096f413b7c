// The question of an agent, with the fields for the answer: a form if the question has a schema, a text, or credentials.
import { useRef, useState } from "preact/hooks";
import type { ComponentChildren } from "preact";
import { CREDENTIALS_MEDIA_TYPE, type Message, type Part, type TaskState } from "../../api/types.ts";
import { isFormSchema } from "../../api/schemas.ts";
import { attached, Attachments, partOf, type Attachment } from "../attachments.tsx";
import { Icon } from "../icon.tsx";
import { SchemaForm } from "./form.tsx";
import "./form.css";

/** The schema of the requested answer, if a part of the message contains one. */
export function schemaIn(message: Message | undefined): unknown {
  return message?.parts.find((part) => isFormSchema(part.data))?.data;
}

export interface QuestionProps {
  /** `TASK_STATE_INPUT_REQUIRED` or `TASK_STATE_AUTH_REQUIRED`. */
  state: TaskState;
  /** The message of the task's status. */
  message: Message | undefined;
  /** Sends parts to the task with the question. */
  answer: (parts: Part[]) => void;
  isSending: boolean;
  /** True if the agent accepts files. */
  takesFiles: boolean;
  /** True if the page has a place of its own for an answer in text, as the chat. */
  hasComposer?: boolean;
}

export function Question({ state, message, answer, isSending, takesFiles, hasComposer = false }: QuestionProps) {
  const [files, setFiles] = useState<readonly Attachment[]>([]);
  const schema = schemaIn(message);
  const withFiles = (parts: Part[]) => answer([...parts, ...files.map(partOf)]);
  if (state === "TASK_STATE_AUTH_REQUIRED") {
    return (
      <>
        <Credentials answer={answer} isSending={isSending} />
        {!hasComposer && <TextAnswer answer={answer} isSending={isSending} />}
      </>
    );
  }
  const attach = takesFiles && <Attach files={files} set={setFiles} />;
  if (schema === undefined) {
    if (hasComposer) return <p class="quiet">Answer below.</p>;
    return <TextAnswer answer={withFiles} isSending={isSending} attach={attach} hasFiles={files.length > 0} />;
  }
  const canDecline = message?.parts.some(({ text }) => text?.includes('{"action": "decline"}')) === true;
  return (
    <div class="question">
      <SchemaForm key={message?.messageId} schema={schema} label="Answer to the agent" action="Answer" isSending={isSending} submit={(data) => withFiles([{ data }])}>
        {attach}
        {canDecline && (
          <button type="button" disabled={isSending} onClick={() => answer([{ data: { action: "decline" } }])}>
            Decline
          </button>
        )}
      </SchemaForm>
    </div>
  );
}

interface TextProps {
  answer: (parts: Part[]) => void;
  isSending: boolean;
  attach?: ComponentChildren;
  hasFiles?: boolean;
}

function TextAnswer({ answer, isSending, attach, hasFiles = false }: TextProps) {
  const [text, setText] = useState("");
  const [isMissing, setMissing] = useState(false);
  const box = useRef<HTMLTextAreaElement>(null);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    if (isSending) return;
    const isEmpty = text.trim() === "" && !hasFiles;
    setMissing(isEmpty);
    if (isEmpty) return box.current?.focus();
    answer(text.trim() === "" ? [] : [{ text }]);
  };
  return (
    <form class="schema-form question" aria-label="Answer to the agent" noValidate onSubmit={submit}>
      <label>
        Answer
        <textarea ref={box} rows={3} value={text} aria-invalid={isMissing} aria-describedby={isMissing ? "answer-missing" : undefined} onInput={(event) => setText(event.currentTarget.value)} />
      </label>
      {isMissing && (
        <p id="answer-missing" class="field-problem" role="alert">
          Write something first.
        </p>
      )}
      <div class="actions">
        {attach}
        <button type="submit" class="primary" disabled={isSending}>
          Answer
        </button>
      </div>
    </form>
  );
}

/** Files that go with the answer. */
function Attach({ files, set }: { files: readonly Attachment[]; set: (files: readonly Attachment[]) => void }) {
  const picker = useRef<HTMLInputElement>(null);
  const [wrong, setWrong] = useState<string>();
  const add = async (chosen: readonly File[]) => {
    try {
      set(await attached(files, chosen));
      setWrong(undefined);
    } catch (error) {
      setWrong(error instanceof Error ? error.message : String(error));
    }
  };
  return (
    <>
      {wrong !== undefined && (
        <p class="field-problem form-problem" role="alert">
          {wrong}
        </p>
      )}
      <Attachments files={files} remove={(at) => set(files.filter((_, index) => index !== at))} />
      <button type="button" onClick={() => picker.current?.click()}>
        <Icon name="attach" />
        <span>Attach</span>
      </button>
      <input ref={picker} type="file" multiple hidden aria-label="Files to attach" tabIndex={-1} onChange={(event) => (void add([...(event.currentTarget.files ?? [])]), (event.currentTarget.value = ""))} />
    </>
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
        <p class="quiet">For an agent that asks for a member of credentials, as a2a-edge's do. They are kept out of the conversation. Others want a message.</p>
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
