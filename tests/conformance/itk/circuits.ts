// The circuits of `npm run conformance:itk`: walks from agent to agent along every edge between them, one call each, that end where they
// began. Pure: tables in, tables out.

/** A reference agent of the ITK. */
export interface Peer {
  /** Its name in the ITK. */
  sdk: string;
  title: string;
  /** The folder of its sources in the ITK. */
  folder: string;
  /** The file there that names its SDK, and the version of the SDK in it. */
  version: [file: string, pattern: RegExp];
  /** The transports that the ITK's agent has of those that this server has. */
  transports: string[];
}

/** The reference agents that circuits go through. */
export const PEERS: Peer[] = [
  peer("python_v10", "Python, 1.0", "agents/python/v10", ["pyproject.toml", /a2a-sdk[^"]*?v?(\d[\w.]*)"/]),
  peer("python_v03", "Python, 0.3", "agents/python/v03", ["pyproject.toml", /a2a-sdk[^"]*?v?(\d[\w.]*)"/]),
  peer("ts_v10", "JavaScript, 1.0", "agents/ts/v10", ["package.json", /"@a2a-js\/sdk": "([^"]+)"/]),
  peer("ts_v03", "JavaScript, 0.3", "agents/ts/v03", ["package.json", /"@a2a-js\/sdk": "([^"]+)"/]),
  peer("go_v10", "Go, 1.0", "agents/go/v10", ["go.mod", /a2a-go\/v2 v(\S+)/]),
  // The SDK for Go has no HTTP+JSON in 0.3.
  peer("go_v03", "Go, 0.3", "agents/go/v03", ["go.mod", /a2a-go v(\S+)/], ["jsonrpc"]),
];

function peer(sdk: string, title: string, folder: string, version: Peer["version"], transports = ["jsonrpc", "http_json"]): Peer {
  return { sdk, title, folder, version, transports };
}

/** The transports of the ITK that this server has. */
export const TRANSPORTS: Record<string, string> = { jsonrpc: "JSON-RPC", http_json: "HTTP+JSON" };

/** The ways to call an agent, as this page and as the ITK name them. */
export const WAYS: { title: string; behavior: string; streaming: boolean }[] = [
  { title: "send", behavior: "send_message", streaming: false },
  { title: "stream", behavior: "send_message", streaming: true },
  { title: "webhook", behavior: "push_notification", streaming: false },
  { title: "resubscribe", behavior: "resubscribe", streaming: true },
];

/** What the ITK calls the agent under test. */
export const OURS = "current";

/** A scenario, as the service of the ITK takes it. */
export interface Scenario {
  name: string;
  sdks: string[];
  protocols: string[];
  behavior: string;
  streaming: boolean;
  /** Which agent calls which; each every other one without. */
  edges?: string[];
  /** With it, a scenario that throws counts as failed, and others still run; one of more than two agents is also run with some of them. */
  build_subtests: boolean;
}

/** A circuit: where it belongs in the tables, and the scenario that it is. */
export interface Circuit {
  /** The only other agent in the circuit; undefined if there are several. */
  peer?: Peer;
  /** What goes through several. */
  title: string;
  way: string;
  transport: string;
  scenario: Scenario;
}

/** There and back between us and each reference agent, begun here and begun there. */
export function pairs(peers: Peer[]): Circuit[] {
  return peers.flatMap((peer) => peer.transports.flatMap((transport) => WAYS.flatMap(({ title: way }) =>
    [[OURS, peer.sdk], [peer.sdk, OURS]].map((sdks) => circuit(sdks, way, transport, { peer })))));
}

/** From each to each of 1.0, and from us to each and back. */
export function hubs(peers: Peer[]): Circuit[] {
  return Object.keys(TRANSPORTS).flatMap((transport) => WAYS.flatMap(({ title: way }) => {
    // Over HTTP+JSON of 0.3 not all of them understand each other; each alone is tried above.
    const able = peers.filter(({ sdk, transports }) => transports.includes(transport) && (transport === "jsonrpc" || sdk.endsWith("_v10")));
    const star = able.flatMap((_, index) => [`0->${index + 1}`, `${index + 1}->0`]);
    const all = circuit([OURS, ...able.filter(({ sdk }) => sdk.endsWith("_v10")).map(({ sdk }) => sdk)], way, transport, { title: "each calls each, 1.0" });
    return [all, circuit([OURS, ...able.map(({ sdk }) => sdk)], way, transport, { title: "we call each, each calls us", edges: star })];
  })).filter(({ scenario }) => scenario.sdks.length > 2);
}

function circuit(sdks: string[], way: string, transport: string, { peer, title = "", edges }: { peer?: Peer; title?: string; edges?: string[] }): Circuit {
  const { behavior = "", streaming = false } = WAYS.find((one) => one.title === way) ?? {};
  const name = [sdks.join(" "), title, way, TRANSPORTS[transport]].filter(Boolean).join(", ");
  const scenario = { name, sdks, protocols: [transport], behavior, streaming, ...(edges && { edges }), build_subtests: sdks.length === 2 };
  return { ...(peer && { peer }), title, way, transport, scenario };
}

/** Why a circuit is expected to fail; undefined for one that is to pass. */
export function expectedFailure({ peer, transport }: Circuit): string | undefined {
  if (peer?.sdk !== "ts_v03" || transport !== "http_json") return undefined;
  return "its SDK reads bytes once from base64, while bytes of 0.3 over HTTP+JSON come as base64 of base64 from the SDKs for Python and Go and from us; with none of the other agents of the ITK does it pass these circuits";
}
