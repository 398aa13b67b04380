import { describe } from "vitest";
import { requires } from "../../../test/support/requires.ts";
import { ipAddress } from "../../platform/socket-address.ts";
import { describeFdContract } from "../fd.contract.ts";
import { MemoryHosts } from "../memory/memory-host.ts";
import { MemoryProvider } from "../memory/memory-provider.ts";
import { SimulatedNetwork } from "../memory/simulated-network.ts";
import type { VirtualClock } from "../memory/virtual-clock.ts";
import { NodeProvider } from "../node/node-provider.ts";
import { DescriptorLedger } from "../posix/descriptor-ledger.ts";
import type { ScenarioSubject } from "../scenario.fixture.ts";
import { KCP_DEFAULTS } from "./kcp-options.ts";
import { KcpProvider } from "./kcp-provider.ts";

const OPTIONS = { ...KCP_DEFAULTS, key: Buffer.alloc(32, 7) };
const LIMIT_MS = 60_000;

function simulated(): ScenarioSubject {
  let clock: VirtualClock | undefined;
  return {
    makeProvider: () => {
      const network = new SimulatedNetwork({ seed: 1 });
      clock = network.clock;
      const host = new MemoryHosts(network).add("a", ["10.0.0.1"]);
      return new KcpProvider(new MemoryProvider(host), OPTIONS);
    },
    run: async (loop) => {
      loop.start();
      clock?.runUntil(() => loop.isClosed, LIMIT_MS);
    },
  };
}

describeFdContract({
  ...simulated(),
  name: "kcp in the simulated network",
  address: ipAddress("10.0.0.1", 0),
  deadAddress: ipAddress("10.0.0.1", 1),
});

/** Reserved (tcpmux): nothing listens there, and no ephemeral port is below it. */
const DEAD_PORT = 1;

describeFdContract({
  name: "kcp on Node's sockets",
  makeProvider: () => new KcpProvider(new NodeProvider(), OPTIONS),
  run: (loop) =>
    new Promise((resolve) => {
      loop.start();
      const check = (): void => {
        if (loop.isClosed) resolve();
        else setImmediate(check);
      };
      check();
    }),
  address: ipAddress("127.0.0.1", 0),
  deadAddress: ipAddress("127.0.0.1", DEAD_PORT),
});

describe("kcp on posix sockets", requires("linux"), async () => {
  const { PosixProvider } = await import("../posix/posix-provider.ts");
  const { loadAead } = await import("../../platform/linux/openssl/aead-calls.ts");
  const { nativeSealer } = await import("./native-sealer.ts");
  const calls = loadAead();
  const posix: ScenarioSubject = {
    makeProvider: () =>
      new KcpProvider(new PosixProvider({ ledgerMemory: DescriptorLedger.allocate(65_536) }), {
        ...OPTIONS,
        createSealer: nativeSealer(calls),
      }),
    run: async (loop) => loop.run(),
  };
  describeFdContract({
    ...posix,
    name: "IPv4",
    address: ipAddress("127.0.0.1", 0),
    deadAddress: ipAddress("127.0.0.1", DEAD_PORT),
  });
  describeFdContract({
    ...posix,
    name: "IPv6",
    address: ipAddress("::1", 0),
    deadAddress: ipAddress("::1", DEAD_PORT),
  });
});
