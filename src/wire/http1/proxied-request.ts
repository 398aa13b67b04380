import { HOP_BY_HOP, nominatedNames } from "./copy-fields.ts";
import type { RequestHead } from "./request-head.ts";

const DROPPED: ReadonlySet<string> = new Set([...HOP_BY_HOP, "host", "proxy-authorization"]);

/**
 * The head of a request that a client has sent to a forward proxy (`GET http://host/path`), as the server
 * gets it. It is the last one on its connection: the next might be for another server, so the protocol
 * stays what it is (who wants another one asks for a tunnel by CONNECT).
 */
export function renderProxiedRequest(head: RequestHead): Buffer {
  const { line, fields, method } = head;
  const nominated = head.facts.nominates ? nominatedNames(fields) : [];
  const target = fields.bytes.toString("latin1", line.pathStart, line.pathEnd);
  const path = target.startsWith("/") ? target : `/${target}`;
  const lines = [`${method} ${path} HTTP/1.${line.minorVersion}`, `Host: ${head.host}`];
  for (let index = 0; index < fields.count; index += 1) {
    const name = fields.name(index);
    const lower = name.toLowerCase();
    // What this proxy itself reads does not go because someone says so.
    const isNominated = fields.field(index) === "other" && nominated.includes(lower);
    if (DROPPED.has(lower) || isNominated) continue;
    lines.push(`${name}: ${fields.value(index)}`);
  }
  lines.push("Connection: close");
  return Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1");
}
