// A service token of Cloudflare Access, for servers that stand behind it: from the variables from which wrangler takes its own.
import { EXIT, Failure } from "./failure.mjs";

/** The variables that hold the token. */
export const ACCESS_VARIABLES = ["CLOUDFLARE_ACCESS_CLIENT_ID", "CLOUDFLARE_ACCESS_CLIENT_SECRET"];

/** The headers with the token; none where the variables are not both set. */
export function accessHeaders(env = process.env) {
  const [id, secret] = ACCESS_VARIABLES.map((name) => env[name]?.trim());
  if (![id ?? "", secret ?? ""].every((value) => /^[\x21-\x7e]*$/.test(value)))
    throw new Failure(`${ACCESS_VARIABLES.join(" and ")} hold no service token.`, EXIT.usage);
  return id && secret ? { "cf-access-client-id": id, "cf-access-client-secret": secret } : {};
}

/** True if Access sends a request there to sign in. */
export function isAccess(location) {
  return /\.cloudflareaccess\.com$/.test(location?.hostname ?? "");
}
