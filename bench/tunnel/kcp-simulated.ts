import { KCP_DEFAULTS } from "../../src/net/kcp/kcp-options.ts";
import { KcpProvider } from "../../src/net/kcp/kcp-provider.ts";
import { MemoryHosts } from "../../src/net/memory/memory-host.ts";
import { MemoryProvider } from "../../src/net/memory/memory-provider.ts";
import { type LinkConditions, SimulatedNetwork } from "../../src/net/memory/simulated-network.ts";
import { SelectorEventLoop } from "../../src/net/selector-event-loop.ts";
import { ipAddress } from "../../src/platform/socket-address.ts";

export interface SimulatedRun {
  /** Of the path's clock. */
  readonly seconds: number;
  readonly payloadBytes: number;
  /** Of datagrams with the headers of UDP and IPv4, from the sender and from the receiver. */
  readonly sentBytes: number;
  readonly answeredBytes: number;
  /** Segments that were sent again, and datagrams that a full queue has dropped. */
  readonly resentSegments: number;
  readonly overflowed: number;
}

const HEADER_BYTES = 28;
const SERVER = ipAddress("10.0.0.2", 4000);
const LIMIT_MS = 3_600_000;

/** Sends so much over a path of the simulated network that is 100 ms long, there and back. */
export function runSimulated(
  payloadBytes: number,
  line: Partial<LinkConditions> & Pick<LinkConditions, "lossRate">,
): SimulatedRun {
  const network = new SimulatedNetwork({ seed: 7, conditions: { latencyMs: 50, ...line } });
  const hosts = new MemoryHosts(network);
  const end = (name: string, ip: string) => {
    const provider = new KcpProvider(new MemoryProvider(hosts.add(name, [ip])), {
      ...KCP_DEFAULTS,
      key: Buffer.alloc(32, 1),
    });
    const onError = (error: unknown): void => {
      throw error;
    };
    return { provider, loop: new SelectorEventLoop({ provider, onError }) };
  };
  const [sender, receiver] = [end("a", "10.0.0.1"), end("b", "10.0.0.2")];
  const region = { bytes: new Uint8Array(65_536), address: 0 };
  let received = 0;
  const server = receiver.provider.listen(SERVER, { backlog: 8 });
  receiver.loop.add(server, {
    onReady: () => {
      const fd = server.accept();
      if (fd === undefined) return;
      receiver.loop.add(fd, {
        onReady: () => {
          while (fd.readable) received += Math.max(0, fd.read(region, 0, region.bytes.length));
        },
        onRemoved: () => fd.close(),
      });
    },
    onRemoved: () => server.close(),
  });
  receiver.loop.start();
  let sent = 0;
  const client = sender.provider.connect(SERVER);
  sender.loop.add(client, {
    onReady: () => {
      while (client.writable && sent < payloadBytes) {
        const count = Math.min(region.bytes.length, payloadBytes - sent);
        sent += Math.max(0, client.write(region, 0, count));
      }
    },
    onRemoved: () => client.close(),
  });
  sender.loop.start();
  network.clock.runUntil(() => received >= payloadBytes, LIMIT_MS);
  const [out, back] = [sender.provider.engine.counters, receiver.provider.engine.counters];
  const run = {
    seconds: network.clock.nowMs() / 1000,
    payloadBytes: received,
    sentBytes: out.bytesOut + HEADER_BYTES * out.datagramsOut,
    answeredBytes: back.bytesOut + HEADER_BYTES * back.datagramsOut,
    resentSegments: out.resentSegments,
    overflowed: network.overflowed,
  };
  sender.loop.close();
  receiver.loop.close();
  return run;
}

/**
 * What RFC 9438 (5.1) gives for CUBIC in bytes a second, where it is kinder of its two forms; at high losses the truth
 * is worse, for there time-outs rule.
 */
export function cubicModel(lossRate: number, rttSeconds: number): number {
  const asCubic = 1.054 * (rttSeconds ** 0.75 / lossRate ** 0.75);
  const asReno = Math.sqrt(1.5 / lossRate);
  return (Math.max(asCubic, asReno) * 1448) / rttSeconds;
}
