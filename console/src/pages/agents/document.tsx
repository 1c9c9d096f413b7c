// The card as JSON, as it is served.
import { useEffect, useState } from "preact/hooks";
import { CopyButton } from "../../parts/copy.tsx";
import { JsonTree } from "../../parts/json.tsx";
import { ProblemBox } from "../../parts/problem.tsx";
import type { CardDocument } from "./agent-view.tsx";

export function DocumentTab({ document }: { document: CardDocument }) {
  const [text, setText] = useState<string>();
  const [problem, setProblem] = useState<unknown>();
  const load = () => {
    setProblem(undefined);
    document.load().then(setText, setProblem);
  };
  useEffect(load, [document.tab]);
  if (problem !== undefined) return <ProblemBox problem={problem} retry={load} />;
  if (text === undefined) return <p class="quiet" role="status">Loading…</p>;
  const json = jsonOf(text);
  return (
    <div class="stack">
      <div class="row">
        <p class="quiet">{document.note}</p>
        <CopyButton of={() => text} label="Copy as served" />
      </div>
      {json === undefined ? <pre tabIndex={0}>{text}</pre> : <JsonTree value={json} label={document.label} />}
    </div>
  );
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
