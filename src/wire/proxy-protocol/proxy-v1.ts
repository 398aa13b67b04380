import { canonicalIp, type Family, familyOf } from "../../core/model/address.ts";
import {
  MORE,
  malformed,
  type ProxiedConnection,
  type ProxyEnd,
  type ProxyHeader,
} from "./proxy-header.ts";

export const V1_SIGNATURE = "PROXY ";
/** Of the whole line with CR LF, says the specification. */
const MAX_LINE_BYTES = 107;
const CR = 0x0d;
const LF = 0x0a;
const PORT = /^(?:0|[1-9]\d{0,4})$/;
const FAMILIES: Readonly<Record<string, Family>> = { TCP4: "v4", TCP6: "v6" };

/** Reads `PROXY TCP4 192.0.2.1 198.51.100.1 56324 443` from `start`, where its signature stands. */
export function parseProxyV1(bytes: Buffer, start: number, end: number): ProxyHeader {
  const limit = Math.min(end, start + MAX_LINE_BYTES);
  const lineFeed = bytes.subarray(start, limit).indexOf(LF);
  if (lineFeed < 0) {
    return end - start < MAX_LINE_BYTES
      ? MORE
      : malformed(`no end of line in ${MAX_LINE_BYTES} bytes`);
  }
  const lineEnd = start + lineFeed - 1;
  if (bytes[lineEnd] !== CR) return malformed("the line ends with LF alone; expected CR LF");
  const words = bytes.toString("latin1", start, lineEnd).split(" ");
  return readWords(words, start + lineFeed + 1);
}

function readWords(words: readonly string[], end: number): ProxyHeader {
  const [, protocol = "", source = "", destination = "", sourcePort = "", port = ""] = words;
  if (protocol === "UNKNOWN") return { kind: "header", version: 1, end, connection: undefined };
  const family = FAMILIES[protocol];
  if (family === undefined) {
    return malformed(`protocol ${JSON.stringify(protocol)}; expected TCP4, TCP6 or UNKNOWN`);
  }
  const from = readEnd(source, sourcePort, family);
  const to = readEnd(destination, port, family);
  if (from === undefined || to === undefined || words.length !== 6) {
    return malformed(`expected two ${protocol} addresses and two ports`);
  }
  const connection: ProxiedConnection = { transport: "TCP", source: from, destination: to };
  return { kind: "header", version: 1, end, connection };
}

function readEnd(address: string, port: string, family: Family): ProxyEnd | undefined {
  const ip = canonicalIp(address);
  const isGood = ip !== undefined && familyOf(ip) === family && PORT.test(port);
  return isGood && Number(port) <= 65_535 ? { ip, port: Number(port) } : undefined;
}

/** @param connection undefined where the ends are not known or have no addresses. */
export function renderProxyV1(connection: ProxiedConnection | undefined): Buffer {
  return Buffer.from(`${V1_SIGNATURE}${wordsOf(connection)}\r\n`, "latin1");
}

/** Ends of two families can not be told. */
function wordsOf(connection: ProxiedConnection | undefined): string {
  if (connection === undefined) return "UNKNOWN";
  const { source, destination } = connection;
  const family = familyOf(source.ip);
  if (connection.transport !== "TCP" || family !== familyOf(destination.ip)) return "UNKNOWN";
  const protocol = family === "v4" ? "TCP4" : "TCP6";
  return `${protocol} ${source.ip} ${destination.ip} ${source.port} ${destination.port}`;
}
