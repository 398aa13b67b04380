import { ipAddress } from "../../platform/socket-address.ts";
import { describeDatagramContract } from "../datagram.contract.ts";
import { describeFdContract } from "../fd.contract.ts";
import type { ScenarioSubject } from "../scenario.fixture.ts";
import { MemoryHosts } from "./memory-host.ts";
import { MemoryProvider } from "./memory-provider.ts";
import { SimulatedNetwork } from "./simulated-network.ts";
import type { VirtualClock } from "./virtual-clock.ts";

const LIMIT_MS = 60_000;

/** A host and its clock for each scenario. */
function subject(): ScenarioSubject {
  let clock: VirtualClock | undefined;
  return {
    makeProvider: () => {
      const network = new SimulatedNetwork({ seed: 1 });
      clock = network.clock;
      return new MemoryProvider(new MemoryHosts(network).add("a", ["10.0.0.1"]));
    },
    run: async (loop) => {
      loop.start();
      clock?.runUntil(() => loop.isClosed, LIMIT_MS);
    },
  };
}

describeFdContract({
  ...subject(),
  name: "memory",
  address: ipAddress("10.0.0.1", 0),
  deadAddress: ipAddress("10.0.0.1", 1),
});
describeDatagramContract({ ...subject(), name: "memory", address: ipAddress("10.0.0.1", 0) });
