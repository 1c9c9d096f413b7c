// The part of the platform's interfaces that the baseline in TypeScript uses; the platform's own package of types is not
// installed.

declare module "cloudflare:workers" {
  export abstract class DurableObject<Env> {
    protected readonly ctx: DurableObjectState;
    protected readonly env: Env;
    constructor(ctx: DurableObjectState, env: Env);
  }

  export interface DurableObjectState {
    readonly id: { toString(): string };
    readonly storage: { sql: SqlStorage };
  }

  export interface SqlStorage {
    exec<Row>(query: string, ...values: (string | number)[]): { toArray(): Row[] };
  }

  export interface ObjectId {
    toString(): string;
  }

  /** The objects of a class whose methods are called by RPC. */
  export interface ObjectNamespace<Methods> {
    newUniqueId(): ObjectId;
    idFromString(id: string): ObjectId;
    get(id: ObjectId): Methods & { fetch(request: Request): Promise<Response> };
  }

  export interface D1Database {
    prepare(query: string): D1Statement;
  }

  export interface D1Statement {
    bind(...values: (string | number | null)[]): D1Statement;
    run(): Promise<unknown>;
    all<Row>(): Promise<{ results: Row[] }>;
  }
}
