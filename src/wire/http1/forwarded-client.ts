import { canonicalIp } from "../../core/model/address.ts";

/** `[fd00::1]:443`, `[fd00::1]` and `10.0.0.1:443` hold an address too. */
const WITH_PORT = /^\[([^\]]+)\](?::\d{1,5})?$|^([\d.]+):\d{1,5}$/;

/**
 * The client that a request comes from: the last hop in `X-Forwarded-For` that is not one of the
 * trusted ones, as each of those vouches for the one before it. What is no address ends the search.
 * @param values of all such fields, in their order.
 */
export function forwardedClient(
  values: readonly string[],
  peer: string,
  isTrusted: (ip: string) => boolean,
): string {
  const hops = values.flatMap((value) => value.split(",")).map((hop) => hop.trim());
  let client = peer;
  for (const hop of hops.filter((text) => text !== "").reverse()) {
    const ip = isTrusted(client) ? readHop(hop) : undefined;
    if (ip === undefined) return client;
    client = ip;
  }
  return client;
}

function readHop(text: string): string | undefined {
  const [, bracketed, plain] = WITH_PORT.exec(text) ?? [];
  return canonicalIp(bracketed ?? plain ?? text);
}
