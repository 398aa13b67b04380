import { formatHostPort, isPort, parseHostPort } from "../model/address.ts";

/** Where a server listens. */
export type ListenAddress =
  | { readonly kind: "tcp"; readonly host: string; readonly port: number }
  | { readonly kind: "unix"; readonly path: string };

const LOOPBACK = "127.0.0.1";

/** Reads `HOST:PORT`, `PORT` (on loopback) or `unix:PATH`; port 0 takes any free one. */
export function parseListenAddress(text: string): ListenAddress | undefined {
  if (text.startsWith("unix:")) {
    const path = text.slice("unix:".length);
    return path === "" ? undefined : { kind: "unix", path };
  }
  if (/^\d+$/.test(text)) {
    const port = Number(text);
    return port === 0 || isPort(port) ? { kind: "tcp", host: LOOPBACK, port } : undefined;
  }
  const anyFree = /^(.+):0$/.exec(text)?.[1];
  const address = parseHostPort(anyFree === undefined ? text : `${anyFree}:1`);
  if (address === undefined) return undefined;
  return { kind: "tcp", host: address.host, port: anyFree === undefined ? address.port : 0 };
}

/** Reads `HOST:PORT[,HOST:PORT]`, where something listens already; undefined where one of them is something else. */
export function parseServerAddresses(text: string): readonly ListenAddress[] | undefined {
  const read = text.split(",").map((word) => parseListenAddress(word));
  const good = read.flatMap((each) => (each?.kind === "tcp" && each.port !== 0 ? [each] : []));
  return good.length === read.length ? good : undefined;
}

export function formatListenAddress(address: ListenAddress): string {
  return address.kind === "unix"
    ? `unix:${address.path}`
    : formatHostPort(address.host, address.port);
}
