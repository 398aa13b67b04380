import { describe } from "vitest";
import { requires } from "../../../test/support/requires.ts";
import { ipAddress, unixAddress } from "../../platform/socket-address.ts";
import { describeDatagramContract } from "../datagram.contract.ts";
import { describeFdContract } from "../fd.contract.ts";
import type { ScenarioSubject } from "../scenario.fixture.ts";
import { DescriptorLedger } from "./descriptor-ledger.ts";
import { PosixProvider } from "./posix-provider.ts";

const MAX_DESCRIPTORS = 65_536;
const posix: ScenarioSubject = {
  makeProvider: () =>
    new PosixProvider({ ledgerMemory: DescriptorLedger.allocate(MAX_DESCRIPTORS) }),
  run: async (loop) => loop.run(),
};
/** Reserved (tcpmux): nothing listens there, and no ephemeral port is below it. */
const DEAD_PORT = 1;

describe("posix", requires("linux"), () => {
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
  describeFdContract({
    ...posix,
    name: "abstract unix",
    address: unixAddress(`@portolan-test-${process.pid}`),
    deadAddress: unixAddress(`@portolan-test-dead-${process.pid}`),
    // unix(7): SO_LINGER has no effect.
    afterReset: 0,
  });
  describeDatagramContract({ ...posix, name: "IPv4", address: ipAddress("127.0.0.1", 0) });
  describeDatagramContract({ ...posix, name: "IPv6", address: ipAddress("::1", 0) });
});
