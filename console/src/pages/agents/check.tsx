// The findings about the card, and about differences between the card and the agent's answers.
import { useState } from "preact/hooks";
import type { Endpoint } from "../../api/endpoint.ts";
import type { Finding, Found, Severity } from "../../lint/index.ts";
import { METHODS, probe as ask, type Probe } from "../../lint/probe.ts";
import { CopyButton } from "../../parts/copy.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Badge } from "../../parts/state.tsx";
import { sentence } from "../../parts/words.ts";
import { numbered } from "./list.tsx";

const WORDS: Record<Severity, { tone: string; word: string }> = {
  error: { tone: "bad", word: "Error" },
  warning: { tone: "wait", word: "Warning" },
  advice: { tone: "busy", word: "Hint" },
};

interface CheckTabProps {
  found: Found;
  findings: Finding[];
  endpoint: Endpoint;
  probe: Probe | undefined;
  setProbe: (probe: Probe) => void;
}

export function CheckTab({ found, findings, endpoint, probe, setProbe }: CheckTabProps) {
  const [isAsking, setAsking] = useState(false);
  const run = async () => {
    setAsking(true);
    setProbe(await ask(endpoint));
    setAsking(false);
  };
  const count = (severity: Severity) => findings.filter((finding) => finding.severity === severity).length;
  const sums = [["error", "error"], ["warning", "warning"], ["advice", "hint"]] as const;
  const told = sums.flatMap(([severity, noun]) => (count(severity) === 0 ? [] : [numbered(count(severity), noun)])).join(", ");
  return (
    <div class="stack">
      <div class="row check-head">
        <p role="status">{findings.length === 0 ? "Nothing to say about this card." : `About this card: ${told}.`}</p>
        <div class="row">
          <button type="button" onClick={() => void run()} disabled={isAsking}>
            <Icon name="refresh" /> {isAsking ? "Asking…" : "Try what the card declares"}
          </button>
          {findings.length > 0 && <CopyButton of={() => asText(found, findings)} label="Copy the findings" />}
        </div>
      </div>
      {findings.length === 0 ? (
        <div class="empty">
          <Icon name="check" />
          <p>Clients of each version find what they need.</p>
        </div>
      ) : (
        <ul class="findings">
          {grouped(findings).map((group) => (
            <Group key={`${group.severity} ${group.fix}`} {...group} />
          ))}
        </ul>
      )}
      {probe !== undefined && <ProbeTable probe={probe} />}
    </div>
  );
}

/** Findings of one kind: the fix is shown once for all. */
interface FindingGroup {
  severity: Severity;
  fix: string;
  of: Finding[];
}

function Group({ severity, fix, of }: FindingGroup) {
  const { tone, word } = WORDS[severity];
  return (
    <li class="card finding">
      <Badge tone={tone}>{word}</Badge>
      <div>
        {of.map(({ about, text }) => (
          <p key={`${about} ${text}`}>
            {text} {about !== "" && <code>{about}</code>}
          </p>
        ))}
        <p class="fix">{fix}</p>
      </div>
    </li>
  );
}

function ProbeTable({ probe }: { probe: Probe }) {
  return (
    <div class="card scroll" role="region" aria-label="What the agent answered" tabIndex={0}>
      <table>
        <caption>What the agent answered to calls that change nothing: each names a task that does not exist.</caption>
        <thead>
          <tr>
            <th scope="col">Method</th>
            <th scope="col">Answer</th>
          </tr>
        </thead>
        <tbody>
          {METHODS.map((method) => (
            <tr key={method}>
              <td>
                <code>{method}</code>
              </td>
              <td>{probe[method]?.isOk === true ? "It answers." : [sentence(probe[method]?.message ?? ""), probe[method]?.reason].filter(Boolean).join(" · ")}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function grouped(findings: Finding[]): FindingGroup[] {
  const groups = new Map<string, FindingGroup>();
  for (const finding of findings) {
    const key = `${finding.severity} ${finding.fix}`;
    const group = groups.get(key) ?? { severity: finding.severity, fix: finding.fix, of: [] };
    group.of.push(finding);
    groups.set(key, group);
  }
  return [...groups.values()];
}

function asText(found: Found, findings: Finding[]): string {
  const lines = findings.map(({ severity, about, text, fix }) => `- ${severity}${about === "" ? "" : ` (${about})`}: ${text} ${fix}`);
  return [`${found.foundAt}`, "", ...lines].join("\n");
}
