// The address and the port at which `start` and `dev` serve, with a check that both are free.
import { createServer, isIP } from "node:net";
import { networkInterfaces } from "node:os";
import { command as commandLine } from "./command.mjs";
import { Stop } from "./ui.mjs";

export const DEFAULT_PORT = 8787;
export const DEFAULT_HOST = "127.0.0.1";

/** The options for address and port. */
export const ADDRESS_OPTIONS = { port: { type: "string", short: "p" }, host: { type: "string" } };

/**
 * Reads the port and the host from the options, or else from PORT and BIND_HOST; `refuse` makes the error for an invalid
 * value.
 */
export function readAddress(values, refuse, env = process.env) {
  const port = values.port ?? (env.PORT || String(DEFAULT_PORT));
  if (!/^\d{1,5}$/.test(port) || Number(port) < 1 || Number(port) > 65535) {
    throw refuse(`The port must be a number from 1 to 65535, got "${port}".`);
  }
  const given = values.host ?? (env.BIND_HOST || DEFAULT_HOST);
  const host = given === "localhost" ? DEFAULT_HOST : given;
  if (isIP(host) === 0) {
    throw refuse(`The host must be an address of this machine, such as ${DEFAULT_HOST}, or 0.0.0.0 for all of them; got "${given}".`);
  }
  return { port: Number(port), host };
}

/** True if only this machine can reach the address. */
export const isLoopback = (host) => /^127\./.test(host) || /^(?:0*:)+:?0*1$/.test(host) || /^::ffff:127\./i.test(host);

/**
 * The URL for clients of a server at the address: for the address of all interfaces, a URL that other machines can reach.
 */
export function urlAt({ host, port }) {
  if (isLoopback(host)) return `http://${host === DEFAULT_HOST ? "localhost" : written(host)}:${port}`;
  const all = ["0.0.0.0", "::"].includes(host);
  const others = Object.values(networkInterfaces()).flat().filter(({ family, internal }) => family === "IPv4" && !internal);
  return `http://${all ? (others[0]?.address ?? "localhost") : written(host)}:${port}`;
}

/** The URL with which a server at the address reaches itself. */
export const ownUrlAt = ({ host, port }) => `http://${{ "0.0.0.0": DEFAULT_HOST, "::": "[::1]" }[host] ?? written(host)}:${port}`;

const written = (host) => (isIP(host) === 6 ? `[${host}]` : host);

/** Fails early, before any long work, if the address cannot be used or is already in use. */
export async function checkAddress({ command, host, port }) {
  for (const tried of new Set([host, DEFAULT_HOST, "::1", "0.0.0.0"])) {
    const error = await new Promise((resolve) => {
      const server = createServer();
      server.once("error", resolve);
      server.listen({ host: tried, port }, () => server.close(() => resolve(undefined)));
    });
    if (error?.code === "EADDRINUSE") {
      throw new Stop(
        `Port ${port} is in use by another program.\n\n` +
          `    Stop that program, or choose another port: ${commandLine(command, "--port", port === 65535 ? 8788 : port + 1)}`,
      );
    }
    if (error?.code === "EACCES") throw new Stop(`Port ${port} may not be opened by this user. Choose one above 1023.`);
    // A machine without IPv6 has no ::1; only the requested address must exist.
    if (error !== undefined && tried === host) throw new Stop(`This machine cannot listen at ${host} (${error.code}).`);
  }
}
