// The served card as JSON.
import { jsonIn } from "../../api/json-in.ts";
import { CopyButton } from "../../parts/copy.tsx";
import { JsonTree } from "../../parts/json.tsx";
import { Loading } from "../../parts/loading.tsx";
import { useLoaded } from "../../parts/loaded.ts";
import { ProblemBox } from "../../parts/problem.tsx";
import type { CardDocument } from "./agent-view.tsx";

export function DocumentTab({ document }: { document: CardDocument }) {
  const { value: text, problem, again } = useLoaded(document.load, document.tab);
  if (problem !== undefined) return <ProblemBox problem={problem} retry={again} />;
  if (text === undefined) return <Loading />;
  const json = jsonIn(text);
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
