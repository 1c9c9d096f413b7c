// The section of docs/conformance.md about the ITK. Pure: what became of the circuits in, text out.
import { table } from "../page.ts";
import type { SuiteEntry } from "../report.ts";
import { TRANSPORTS, WAYS, expectedFailure, type Circuit, type Peer } from "./circuits.ts";

/** A circuit, and whether it passed. */
export interface Walked {
  circuit: Circuit;
  passed: boolean;
}

/** A reference agent that could not be started here, and why. */
export interface Absent {
  peer: Peer;
  reason: string;
}

/** The run. */
export interface ItkRun {
  revision: string;
  date: string;
  /** The versions of the SDKs, by the names of the reference agents. */
  versions: Record<string, string>;
  walked: Walked[];
  absent: Absent[];
}

/** How many circuits had which outcome. Those of agents that could not be started are skipped. */
export function entryOf({ revision, date, walked }: ItkRun, skipped: number): SuiteEntry {
  const failing = walked.filter(({ passed }) => !passed);
  const deviating = failing.filter(({ circuit }) => expectedFailure(circuit) !== undefined);
  return {
    suite: "ITK", revision, date,
    numbers: { passed: walked.length - failing.length, failed: failing.length - deviating.length, skipped, deviating: deviating.length },
    deviations: deviating.map(({ circuit }) => ({ test: circuit.scenario.name, reason: expectedFailure(circuit) ?? "" })),
  };
}

/** What differs from what is expected. */
export function surprises(walked: Walked[]): string[] {
  const wrong = walked.filter(({ circuit, passed }) => passed === (expectedFailure(circuit) !== undefined));
  const told = wrong.map(({ circuit, passed }) => `${circuit.scenario.name}: ${passed ? "passed, expected to fail" : "failed"}`);
  return walked.length > 0 ? told : ["no circuit was walked"];
}

/** The section. */
export function itkSection(run: ItkRun, entry: SuiteEntry): string {
  const { walked, versions, absent } = run;
  const { passed, failed, deviating, skipped } = entry.numbers;
  const cell = (isMine: (circuit: Circuit) => boolean, way: string): string => {
    const mine = walked.filter(({ circuit }) => circuit.way === way && isMine(circuit));
    const wrong = mine.filter((one) => !one.passed);
    if (mine.length === 0) return "";
    if (wrong.length === 0) return "passed";
    return wrong.every(({ circuit }) => expectedFailure(circuit) !== undefined) ? "deviates" : "**failed**";
  };
  const peers = [...new Map(walked.flatMap(({ circuit: { peer } }) => (peer ? [[peer.sdk, peer] as const] : []))).values()];
  const ways = WAYS.map(({ title }) => title);
  const rows = peers.flatMap((peer) => peer.transports.map((transport) => [
    `${peer.title} (${versions[peer.sdk] ?? ""})`, TRANSPORTS[transport] ?? "",
    ...ways.map((way) => cell((circuit) => circuit.peer?.sdk === peer.sdk && circuit.transport === transport, way)),
  ]));
  const titles = [...new Set(walked.map(({ circuit: { title } }) => title).filter(Boolean))];
  const many = titles.flatMap((title) => Object.keys(TRANSPORTS).map((transport) => {
    const mine = (circuit: Circuit): boolean => circuit.title === title && circuit.transport === transport;
    const sdks = walked.find(({ circuit }) => mine(circuit))?.circuit.scenario.sdks.length;
    return [title, `${sdks ?? 0}`, TRANSPORTS[transport] ?? "", ...ways.map((way) => cell(mine, way))];
  }));
  const reasons = new Map<string, string[]>();
  for (const { circuit } of walked.filter((one) => !one.passed)) {
    const reason = expectedFailure(circuit);
    if (reason !== undefined) reasons.set(reason, [...(reasons.get(reason) ?? []), circuit.scenario.name]);
  }
  return `## ITK

Circuits of agents that are written with different SDKs, by [a2aproject/a2a-itk](https://github.com/a2aproject/a2a-itk). An instruction goes from agent to agent: each calls the next one with what is left of it, the last one
answers, and the answer of the first one must name every call.

| | |
|---|---|
| kit | revision \`${run.revision}\` |
| run on | ${run.date} |
| circuits | **${passed} passed, ${failed} failed**${deviating > 0 ? `, ${deviating} deviate` : ""}, ${skipped} skipped |

Our agent is of kind \`http\` (\`tests/conformance/itk/agent.ts\`): a Worker serves it in all versions and over both bindings, and a small program of ours behind it (\`crates/a2a/tests/itk/\`) carries out the
instructions. It calls other agents by the client of the crate (\`a2a::client\`), which chooses the version by the agent's card. So a circuit with us tries the server, where we are called, and the client, where we call. The ITK starts
it as it starts an SDK under test (\`current\`).

There and back between us and one other agent, begun by us and begun by it; a cell is both:

${table(["agent (SDK)", "transport", ...ways], rows)}

Among several:

${table(["circuit", "agents", "transport", ...ways], many)}

- *send* waits for the answer of a SendMessage, *stream* reads it from SendStreamingMessage.
- *webhook* registers a webhook with every message; each agent's notifications must come there.
- *resubscribe* leaves the stream at its first event, subscribes to the task, reads its text there, and cancels it.

gRPC, the third transport of the ITK, needs HTTP trailers, which Workers cannot send.

### Deviations of the ITK

${reasons.size === 0 ? "None." : table(["circuits", "why"], [...reasons].map(([reason, names]) => [names.map((name) => `\`${name}\``).join("; "), reason]))}

### Not walked

${table(["agent", "why"], [...absent.map(({ peer, reason }) => [peer.title, reason]), ["Java, Rust", "their builds need Maven and protoc; the [peers](peers.md) have the SDK for Rust"]])}
`;
}
