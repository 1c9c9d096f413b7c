// The published data of Cloudflare: prices beyond the contents of the paid plan, and limits.

const DOCS = "https://developers.cloudflare.com";

/** When the pages below were read. */
export const READ = "November 2026";

/** A billed unit; `perMillion` in US$ for a million units. */
export interface Price {
  unit: string;
  perMillion: number;
  included: string;
  page: string;
}

const WORKERS = `${DOCS}/workers/platform/pricing/`;
const OBJECTS = `${DOCS}/durable-objects/platform/pricing/`;
const D1 = `${DOCS}/d1/platform/pricing/`;
const QUEUES = `${DOCS}/queues/platform/pricing/`;

export const prices = {
  workerRequests: { unit: "requests to the Worker", perMillion: 0.3, included: "10 million", page: WORKERS },
  workerCpuMs: { unit: "ms of its CPU", perMillion: 0.02, included: "30 million", page: WORKERS },
  objectRequests: { unit: "requests to objects, alarms, 20 WebSocket messages", perMillion: 0.15, included: "1 million", page: OBJECTS },
  objectGbSeconds: { unit: "GB-s of objects", perMillion: 12.5, included: "400,000", page: OBJECTS },
  objectRows: { unit: "rows that objects write", perMillion: 1, included: "50 million", page: OBJECTS },
  d1RowsRead: { unit: "rows that D1 reads", perMillion: 0.001, included: "25 billion", page: D1 },
  d1RowsWritten: { unit: "rows that D1 writes", perMillion: 1, included: "50 million", page: D1 },
  queueOperations: { unit: "operations of queues", perMillion: 0.4, included: "1 million", page: QUEUES },
} satisfies Record<string, Price>;

export type Billed = keyof typeof prices;

/** US$ for a GB-month. */
export const storagePrices = { objects: 0.2, d1: 0.75 };

/** A message is billed as a write, a read and a deletion. */
export const OPERATIONS_PER_MESSAGE = 3;

/** An object is billed with this memory, whatever it uses. */
export const OBJECT_GB = 0.128;

/** The number of WebSocket messages to objects that are billed as one request. */
export const WEBSOCKET_MESSAGES_PER_REQUEST = 20;

export const limits = {
  /** A soft limit of requests to one object per second. */
  objectRequestsPerSecond: 1_000,
  d1Bytes: 10e9,
  objectBytes: 10e9,
  queueMessagesPerSecond: 5_000,
  consumers: 250,
  subrequests: 10_000,
  isolateBytes: 128e6,
};

export const limitPages = {
  workers: `${DOCS}/workers/platform/limits/`,
  objects: `${DOCS}/durable-objects/platform/limits/`,
  d1: `${DOCS}/d1/platform/limits/`,
  queues: `${DOCS}/queues/platform/limits/`,
};
