import type { Epoll } from "../../platform/linux/epoll.ts";
import type { DescriptorLedger } from "./descriptor-ledger.ts";

/** What the FDs of one provider share. */
export interface PosixHost {
  readonly epoll: Epoll;
  readonly ledger: DescriptorLedger;
}
