// The bindings of the project, as `wrangler types` writes them into worker-configuration.d.ts.
declare namespace Cloudflare {
  interface Env {
    FILES: R2Bucket;
    MAIL: SendEmail;
    SALES: D1Database;
  }
}
