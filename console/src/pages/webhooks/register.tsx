// The form with which the owner of a task registers a webhook, and the display of its secrets, which are shown only
// once.
import { useState } from "preact/hooks";
import { Problem } from "../../api/problem.ts";
import { CopyButton } from "../../parts/copy.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { ProblemBox } from "../../parts/problem.tsx";
import { register, type NewWebhook, type WebhookConfig } from "./api.ts";
import { Field } from "./field.tsx";

interface Form {
  url: string;
  id: string;
  events: string;
  scheme: string;
  credentials: string;
  token: string;
  signingSecret: string;
}

const EMPTY: Form = { url: "", id: "", events: "all", scheme: "", credentials: "", token: "", signingSecret: "" };

/** The fields of the form by their names in the server's errors. */
const FIELDS: Record<string, keyof Form> = {
  url: "url",
  id: "id",
  events: "events",
  token: "token",
  signingSecret: "signingSecret",
  authentication: "scheme",
  "authentication.scheme": "scheme",
  "authentication.credentials": "credentials",
};

export function RegisterDialog({ agent, task, close, done }: { agent: string; task: string; close: () => void; done: () => void }) {
  const [form, setForm] = useState(EMPTY);
  const [problem, setProblem] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const [made, setMade] = useState<WebhookConfig>();

  const submit = async (event: Event) => {
    event.preventDefault();
    if (isBusy) return;
    setBusy(true);
    setProblem(undefined);
    try {
      setMade(await register(agent, task, webhookOf(form)));
      done();
    } catch (error) {
      setProblem(error);
    } finally {
      setBusy(false);
    }
  };
  const violations = problem instanceof Problem ? problem.violations : [];
  const isBeside = violations.length > 0 && violations.every(({ field }) => field in FIELDS);
  const errorsOf = (name: keyof Form) => violations.filter(({ field }) => FIELDS[field] === name).map(({ description }) => description);
  const bound = (name: keyof Form) => ({
    value: form[name],
    onInput: (event: { currentTarget: HTMLInputElement | HTMLSelectElement }) => setForm({ ...form, [name]: event.currentTarget.value }),
  });
  if (made !== undefined) return <MadeDialog made={made} close={close} />;
  return (
    <Dialog title="Register a webhook" close={close}>
      <form class="stack" autocomplete="off" noValidate onSubmit={(event) => void submit(event)}>
        <p class="quiet">It gets what comes after its registration.</p>
        <Field label="URL" errors={errorsOf("url")}>
          {(input) => <input type="url" required placeholder="https://hooks.example.com/a2a" {...input} {...bound("url")} />}
        </Field>
        <Field label="Events" errors={errorsOf("events")}>
          {(input) => (
            <select {...input} {...bound("events")}>
              <option value="all">All</option>
              <option value="status">The task as it begins, and its states</option>
              <option value="artifacts">Artifacts</option>
            </select>
          )}
        </Field>
        <details open={(["scheme", "credentials", "token", "signingSecret", "id"] as const).some((name) => errorsOf(name).length > 0)}>
          <summary>Secrets and id</summary>
          <div class="stack hook-inset">
            <Field label="Signing secret" hint="whsec_ and base64 of 24 to 64 bytes; each notification is signed with it." errors={errorsOf("signingSecret")}>
              {(input) => <input placeholder="made at random" spellcheck={false} {...input} {...bound("signingSecret")} />}
            </Field>
            <div class="hook-two">
              <Field label="Scheme of authentication" errors={errorsOf("scheme")}>
                {(input) => <input placeholder="Bearer" {...input} {...bound("scheme")} />}
              </Field>
              <Field label="Credentials" errors={errorsOf("credentials")}>
                {(input) => <input type="password" autocomplete="off" {...input} {...bound("credentials")} />}
              </Field>
            </div>
            <Field label="Token" hint="Sent in the header A2A-Notification-Token." errors={errorsOf("token")}>
              {(input) => <input type="password" autocomplete="off" {...input} {...bound("token")} />}
            </Field>
            <Field label="Id of the webhook" hint="One with the id of another replaces it." errors={errorsOf("id")}>
              {(input) => <input placeholder="made up" {...input} {...bound("id")} />}
            </Field>
          </div>
        </details>
        {problem !== undefined && !isBeside && <ProblemBox problem={problem} />}
        <div class="actions">
          <button type="button" onClick={close}>
            Cancel
          </button>
          <button type="submit" class="primary" disabled={isBusy || form.url.trim() === ""}>
            {isBusy ? "Registering…" : "Register"}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

/** The registered webhook, with the secret that no other answer contains. */
function MadeDialog({ made, close }: { made: WebhookConfig; close: () => void }) {
  const secret = made.signingSecret;
  return (
    <Dialog title="The webhook is registered" close={close}>
      <div class="stack">
        {secret === undefined ? (
          <p>It takes the place of the one that had its id, and keeps the signing secret of that one.</p>
        ) : (
          <>
            <p>
              Its signing secret is shown <strong>this once</strong>. The receiver verifies notifications with it.
            </p>
            <div class="row hook-secret">
              <code aria-label="Signing secret">{secret}</code>
              <CopyButton of={() => secret} />
            </div>
          </>
        )}
        <div class="actions">
          <button type="button" class="primary" onClick={close}>
            Done
          </button>
        </div>
      </div>
    </Dialog>
  );
}

/** The contents of the form, without empty fields. */
function webhookOf({ url, id, events, scheme, credentials, token, signingSecret }: Form): NewWebhook {
  const authentication = scheme === "" && credentials === "" ? {} : { authentication: { scheme: scheme.trim(), ...(credentials === "" ? {} : { credentials }) } };
  const given = Object.entries({ id: id.trim(), token, signingSecret: signingSecret.trim() }).filter(([, value]) => value !== "");
  return { url: url.trim(), events, ...authentication, ...Object.fromEntries(given) };
}
