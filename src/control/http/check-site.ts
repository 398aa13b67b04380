import { isIP } from "node:net";

const HOST = /^(?:\[(?<v6>[\da-f:.]+)\]|(?<name>[^:[\]/@\s]+))(?::\d{1,5})?$/i;

/**
 * Whether a `Host` header names this machine. A page of another site can make its own name lead to
 * a loopback address, and would then be of the same origin as this API; its name betrays it.
 * @param hosts names beside IP addresses and `localhost`, in lower case
 */
export function isOurHost(header: string | undefined, hosts: ReadonlySet<string>): boolean {
  // Browsers always send it; HTTP/1.1 without it is refused by the parser.
  if (header === undefined) return true;
  const { v6, name } = HOST.exec(header)?.groups ?? {};
  if (v6 !== undefined) return isIP(v6) !== 0;
  if (name === undefined) return false;
  const lower = name.toLowerCase().replace(/\.$/, "");
  return isIP(lower) !== 0 || lower === "localhost" || hosts.has(lower);
}

/** Whether an `Origin` header is that of pages which this controller gave out itself. */
export function isOurOrigin(origin: string | undefined, host: string | undefined): boolean {
  if (origin === undefined) return true;
  const ours = host?.toLowerCase();
  return origin.toLowerCase() === `http://${ours}` || origin.toLowerCase() === `https://${ours}`;
}
