import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { V6_BYTES, writeIp } from "../../wire/ip-bytes.ts";
import type { IpSocketAddress, SocketAddress } from "../socket-address.ts";

/** A process that has a socket. */
export interface SocketHolder {
  readonly pid: number;
  /** As the kernel calls its program: at most 15 characters. */
  readonly program: string;
}

/** Of the kernel's net/tcp_states.h, as /proc/net writes them: TCP_LISTEN, and TCP_CLOSE for UDP. */
const TAKING = { TCP: "0A", UDP: "07" } as const;
const BYTES_A_WORD = 4;
const V4_HEX_DIGITS = 8;

/**
 * The process whose socket keeps others from listening on `on` (proc(5), proc_pid_net(5)).
 * Undefined where nobody does, or /proc does not tell: without root it shows the files of one's own
 * processes only.
 */
export function findSocketHolder(
  on: SocketAddress,
  protocol: keyof typeof TAKING,
): SocketHolder | undefined {
  if (on.family === "unix") return undefined;
  const table = `/proc/net/${protocol.toLowerCase()}${on.family === "v6" ? "6" : ""}`;
  const inodes = new Set(inodesAt(readText(table), on, protocol));
  return inodes.size === 0 ? undefined : findHolder(inodes);
}

/** The inodes of the sockets in a table of /proc/net that take what comes to `on`. */
export function inodesAt(
  table: string,
  on: IpSocketAddress,
  protocol: keyof typeof TAKING,
): readonly string[] {
  const port = on.port.toString(16).toUpperCase().padStart(4, "0");
  const [own, wildcard] = [hexOf(on), "0".repeat(on.family === "v4" ? 8 : 32)];
  const isWildcard = own === wildcard;
  return table.split("\n").flatMap((line) => {
    const [, local = "", , state, , , , , , inode] = line.trim().split(/\s+/);
    const [address, localPort] = local.split(":");
    const isThere =
      (isWildcard && !isMulticast(address)) || address === own || address === wildcard;
    const isIt = localPort === port && state === TAKING[protocol] && isThere;
    return isIt && inode !== undefined ? [inode] : [];
  });
}

/** What comes to a group does not come to an address of the machine; the first byte stands last in its word. */
function isMulticast(address = ""): boolean {
  const first = Number.parseInt(address.slice(6, 8), 16);
  return address.length === V4_HEX_DIGITS ? first >= 0xe0 && first <= 0xef : first === 0xff;
}

/** The kernel prints words of its own byte order; it is little-endian wherever this runs. */
function hexOf({ ip }: IpSocketAddress): string {
  const room = Buffer.alloc(V6_BYTES);
  const bytes = room.subarray(0, writeIp(ip, room, 0));
  for (let word = 0; word < bytes.length; word += BYTES_A_WORD) {
    bytes.subarray(word, word + BYTES_A_WORD).reverse();
  }
  return bytes.toString("hex").toUpperCase();
}

function findHolder(inodes: ReadonlySet<string>): SocketHolder | undefined {
  const links = new Set([...inodes].map((inode) => `socket:[${inode}]`));
  for (const pid of namesIn("/proc").filter((name) => /^\d+$/.test(name))) {
    const files = `/proc/${pid}/fd`;
    if (!namesIn(files).some((name) => links.has(readLink(`${files}/${name}`)))) continue;
    return { pid: Number(pid), program: readText(`/proc/${pid}/comm`).trim() };
  }
  return undefined;
}

/** Empty where there is nothing, or it may not be read: processes come and go meanwhile. */
function namesIn(folder: string): readonly string[] {
  return attempt(() => readdirSync(folder), []);
}

function readLink(path: string): string {
  return attempt(() => readlinkSync(path), "");
}

function readText(path: string): string {
  return attempt(() => readFileSync(path, "utf8"), "");
}

function attempt<T>(read: () => T, otherwise: T): T {
  try {
    return read();
  } catch {
    return otherwise;
  }
}
