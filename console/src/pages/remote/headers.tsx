// The headers for an agent elsewhere, for example with its keys: typed by the person, for one origin.
import { giveHeaders, headersFor } from "../../api/remote.ts";

/** The form; `done` is called after the headers have changed. */
export function HeadersForm({ url, isOpen, done }: { url: string; isOpen: boolean; done(): void }) {
  const { headers, isKept } = headersFor(url);
  const save = (event: SubmitEvent) => {
    event.preventDefault();
    const given = new FormData(event.currentTarget as HTMLFormElement);
    const lines = String(given.get("headers")).split("\n");
    const read = lines.flatMap((line): [string, string][] => {
      const [, name = "", value = ""] = /^\s*([^:\s]+)\s*:\s*(.*\S)/.exec(line) ?? [];
      return name === "" ? [] : [[name, value]];
    });
    giveHeaders(url, { headers: read, isKept: given.has("keep") });
    done();
  };
  return (
    <details class="remote-headers" open={isOpen}>
      <summary>Headers for this agent{headers.length > 0 && ` (${headers.length})`}</summary>
      <form class="stack" onSubmit={save}>
        <label>
          One a line, sent to this host alone
          <textarea name="headers" rows={3} placeholder="Authorization: Bearer …" autocomplete="off" spellcheck={false} defaultValue={headers.map(([name, value]) => `${name}: ${value}`).join("\n")} />
        </label>
        <label class="row">
          <input type="checkbox" name="keep" defaultChecked={isKept} /> Keep until this tab is closed
        </label>
        <p>
          <button type="submit">Use these headers</button>
        </p>
      </form>
    </details>
  );
}
