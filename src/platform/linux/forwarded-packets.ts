import { closeSync, openSync, readSync } from "node:fs";

/** Counts what the kernel forwards from one link to another, in a network namespace. */
export interface ForwardedPackets {
  /** Since the namespace is there, of both families. */
  read(): number;
  close(): void;
}

const MAX_BYTES = 16_384;

/** Of the network namespace that this thread is in. @throws where there is no /proc */
export function openForwardedPackets(): ForwardedPackets {
  const v4 = openSync("/proc/thread-self/net/snmp", "r");
  const v6 = openIfThere("/proc/thread-self/net/snmp6");
  const buffer = Buffer.alloc(MAX_BYTES);
  const read = (file: number): string =>
    buffer.toString("latin1", 0, readSync(file, buffer, 0, MAX_BYTES, 0));
  return {
    read: () => parseForwardedV4(read(v4)) + (v6 === undefined ? 0 : parseForwardedV6(read(v6))),
    close: () => {
      closeSync(v4);
      if (v6 !== undefined) closeSync(v6);
    },
  };
}

/** A line of names and one of numbers, both begin with `Ip:`. */
export function parseForwardedV4(text: string): number {
  const [names, numbers] = text.split("\n").filter((line) => line.startsWith("Ip: "));
  const at = names?.split(" ").indexOf("ForwDatagrams") ?? -1;
  return Number(numbers?.split(" ")[at] ?? 0);
}

/** A line for each name. */
export function parseForwardedV6(text: string): number {
  return Number(/^Ip6OutForwDatagrams\s+(\d+)/m.exec(text)?.[1] ?? 0);
}

/** A kernel without IPv6 has none. */
function openIfThere(path: string): number | undefined {
  try {
    return openSync(path, "r");
  } catch {
    return undefined;
  }
}
