import { canonicalIp } from "../../core/model/address.ts";
import type { FieldTable } from "./field-table.ts";
import { listItems } from "./list-items.ts";

/** `[fd00::1]:443`, `[fd00::1]` and `10.0.0.1:443` hold an address too. */
const WITH_PORT = /^\[([^\]]+)\](?::\d{1,5})?$|^([\d.]+):\d{1,5}$/;

/**
 * The client that a request comes from: the last hop in `X-Forwarded-For` that is not one of the
 * trusted ones, as each of those vouches for the one before it. What is no address ends the search.
 */
export function forwardedClient(
  fields: FieldTable,
  peer: string,
  isTrusted: (ip: string) => boolean,
): string {
  let client = peer;
  for (let index = fields.count - 1; index >= 0; index--) {
    if (fields.field(index) !== "x-forwarded-for") continue;
    const [start, end] = [fields.valueStart(index), fields.valueEnd(index)];
    for (const hop of listItems(fields.bytes, start, end).toReversed()) {
      const ip = isTrusted(client) ? readHop(fields, hop.start, hop.end) : undefined;
      if (ip === undefined) return client;
      client = ip;
    }
  }
  return client;
}

function readHop(fields: FieldTable, start: number, end: number): string | undefined {
  const text = fields.bytes.toString("latin1", start, end);
  const [, bracketed, plain] = WITH_PORT.exec(text) ?? [];
  return canonicalIp(bracketed ?? plain ?? text);
}
