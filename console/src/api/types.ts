// The shapes of A2A 1.0 as JSON, as far as the console reads them. Agents may leave out members or add others, so code
// that reads answers must rely only on these shapes.

export type TaskState =
  | "TASK_STATE_SUBMITTED"
  | "TASK_STATE_WORKING"
  | "TASK_STATE_COMPLETED"
  | "TASK_STATE_FAILED"
  | "TASK_STATE_CANCELED"
  | "TASK_STATE_REJECTED"
  | "TASK_STATE_INPUT_REQUIRED"
  | "TASK_STATE_AUTH_REQUIRED";

export type Metadata = Record<string, unknown>;

/** Exactly one of `text`, `raw` (base64), `url` and `data` is set. */
export interface Part {
  text?: string;
  raw?: string;
  url?: string;
  data?: unknown;
  filename?: string;
  mediaType?: string;
  metadata?: Metadata;
}

export interface Message {
  messageId: string;
  role: "ROLE_USER" | "ROLE_AGENT";
  parts: Part[];
  contextId?: string;
  taskId?: string;
  metadata?: Metadata;
  extensions?: string[];
  referenceTaskIds?: string[];
}

export interface Artifact {
  artifactId: string;
  name?: string;
  description?: string;
  parts: Part[];
  metadata?: Metadata;
  extensions?: string[];
}

export interface TaskStatus {
  state: TaskState;
  message?: Message;
  /** In the format of RFC 3339. */
  timestamp?: string;
}

export interface Task {
  id: string;
  contextId?: string;
  status: TaskStatus;
  artifacts?: Artifact[];
  history?: Message[];
  metadata?: Metadata;
}

export interface StatusUpdate {
  taskId: string;
  contextId?: string;
  status: TaskStatus;
  metadata?: Metadata;
}

export interface ArtifactUpdate {
  taskId: string;
  contextId?: string;
  artifact: Artifact;
  append?: boolean;
  lastChunk?: boolean;
  metadata?: Metadata;
}

/** Exactly one member is set (spec §3.2.3). */
export interface StreamResponse {
  task?: Task;
  message?: Message;
  statusUpdate?: StatusUpdate;
  artifactUpdate?: ArtifactUpdate;
}

/** The answer to a send without a stream. */
export interface SendMessageResponse {
  task?: Task;
  message?: Message;
}

export interface ListTasksResponse {
  tasks: Task[];
  nextPageToken: string;
  pageSize: number;
  totalSize: number;
}

export interface AgentInterface {
  url: string;
  protocolBinding: string;
  protocolVersion?: string;
  tenant?: string;
}

export interface AgentSkill {
  id: string;
  name: string;
  description: string;
  tags?: string[];
  examples?: string[];
  inputModes?: string[];
  outputModes?: string[];
  securityRequirements?: unknown[];
}

export interface AgentExtension {
  uri: string;
  description?: string;
  required?: boolean;
  params?: Record<string, unknown>;
}

/** Exactly one member is set (spec §4.5). */
export interface SecurityScheme {
  apiKeySecurityScheme?: { location: "header" | "query" | "cookie"; name: string; description?: string };
  httpAuthSecurityScheme?: { scheme: string; bearerFormat?: string; description?: string };
  oauth2SecurityScheme?: { flows?: unknown; description?: string; oauth2MetadataUrl?: string };
  openIdConnectSecurityScheme?: { openIdConnectUrl: string; description?: string };
  mtlsSecurityScheme?: { description?: string };
}

export interface AgentCard {
  name: string;
  description: string;
  version: string;
  supportedInterfaces: AgentInterface[];
  provider?: { organization: string; url: string };
  documentationUrl?: string;
  iconUrl?: string;
  capabilities?: { streaming?: boolean; pushNotifications?: boolean; extendedAgentCard?: boolean; extensions?: AgentExtension[] };
  securitySchemes?: Record<string, SecurityScheme>;
  securityRequirements?: { schemes?: Record<string, unknown> }[];
  defaultInputModes?: string[];
  defaultOutputModes?: string[];
  skills: AgentSkill[];
  signatures?: unknown[];
}

/** True if a task in this state never changes again. */
export function isFinal(state: TaskState): boolean {
  return /_(COMPLETED|FAILED|CANCELED|REJECTED)$/.test(state);
}

/** True if a task in this state waits for its client. */
export function isWaiting(state: TaskState): boolean {
  return /_(INPUT|AUTH)_REQUIRED$/.test(state);
}

/**
 * The media type of a part with credentials for a task: the server removes its data from the message (docs/calling.md).
 */
export const CREDENTIALS_MEDIA_TYPE = "application/vnd.a2a-edge.credentials+json";
