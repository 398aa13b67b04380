import type { Claimant } from "./claimant.ts";
import { ServiceHandler } from "./service-handler.ts";

/** Load-balancer IPs: like external ones, but some may be for certain networks only. */
export class LoadBalancerHandler extends ServiceHandler {
  constructor(claimant: Claimant) {
    super(claimant, { bindsAddresses: true, asksAccess: true });
  }
}
