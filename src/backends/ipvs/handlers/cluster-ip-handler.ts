import type { Claimant } from "./claimant.ts";
import { ServiceHandler } from "./service-handler.ts";

/** Cluster IPs and external IPs: addresses that nobody else has, for everyone. */
export class ClusterIpHandler extends ServiceHandler {
  constructor(claimant: Claimant) {
    super(claimant, { bindsAddresses: true, asksAccess: false });
  }
}
