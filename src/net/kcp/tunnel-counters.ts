import { KcpCounters } from "./kcp-counters.ts";

/** What the tunnels of a loop did so far, as it was told last. */
export type TunnelStats = Readonly<KcpCounters>;

const FIELDS: readonly (keyof KcpCounters)[] = [
  "tunnels",
  "handshakes",
  "refusedHandshakes",
  "forgedDatagrams",
  "replayedDatagrams",
  "strangeDatagrams",
  "lostTunnels",
  "datagramsIn",
  "datagramsOut",
  "bytesIn",
  "bytesOut",
  "resentSegments",
];

/** The counters of the tunnels of one loop, which any thread reads without stopping it. */
export class TunnelCounters {
  readonly #values: Float64Array;

  constructor(memory: SharedArrayBuffer = TunnelCounters.allocate()) {
    this.#values = new Float64Array(memory);
  }

  static allocate(): SharedArrayBuffer {
    return new SharedArrayBuffer(FIELDS.length * Float64Array.BYTES_PER_ELEMENT);
  }

  publish(counters: TunnelStats): void {
    FIELDS.forEach((field, index) => {
      this.#values[index] = counters[field];
    });
  }

  read(): TunnelStats {
    const stats = new KcpCounters();
    FIELDS.forEach((field, index) => {
      stats[field] = this.#values[index] ?? 0;
    });
    return stats;
  }
}
