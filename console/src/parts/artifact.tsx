// An artifact: its name, its description, its parts, and its metadata.
import { useContext } from "preact/hooks";
import type { Artifact } from "../api/types.ts";
import { CopyButton } from "./copy.tsx";
import { JsonTree } from "./json.tsx";
import { Parts, textOf } from "./part.tsx";
import { Badge } from "./state.tsx";
import { Whose } from "./whose.ts";

/** With `isLive`, more chunks may follow. */
export function ArtifactView({ artifact, isLive = false }: { artifact: Artifact; isLive?: boolean }) {
  const { artifactId, name, description, parts, metadata } = artifact;
  const title = name ?? artifactId;
  const whose = useContext(Whose);
  return (
    <section class="artifact" aria-label={`Artifact ${title}${whose}`}>
      <header>
        <p class="artifact-title">{title}</p>
        {isLive && <Badge tone="busy">Receiving</Badge>}
        <CopyButton of={() => (parts.every((part) => part.text !== undefined) ? parts.map((part) => part.text).join("") : JSON.stringify(artifact, null, 2))} label={`Copy ${title}`} isBare />
      </header>
      {description !== undefined && description !== "" && <p class="quiet">{description}</p>}
      {parts.length === 0 || (parts.every((part) => part.text === "") && textOf(parts) === "") ? <p class="quiet">Nothing in it</p> : <Parts parts={parts} isLive={isLive} />}
      {metadata !== undefined && Object.keys(metadata).length > 0 && (
        <details>
          <summary class="quiet">Metadata</summary>
          <JsonTree value={metadata} label={`metadata of ${title}`} />
        </details>
      )}
    </section>
  );
}
