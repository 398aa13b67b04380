import { NetEventLoop } from "../../../src/net/net-event-loop.ts";
import { DescriptorLedger } from "../../../src/net/posix/descriptor-ledger.ts";
import { PosixProvider } from "../../../src/net/posix/posix-provider.ts";

const MAX_DESCRIPTORS = 65_536;

/** A loop on this thread, on system calls: a load must cost less than what it measures. */
export function createPosixLoop(): NetEventLoop {
  const ledgerMemory = DescriptorLedger.allocate(MAX_DESCRIPTORS);
  return new NetEventLoop({
    provider: new PosixProvider({ ledgerMemory }),
    onError: (error) => {
      throw error;
    },
  });
}
