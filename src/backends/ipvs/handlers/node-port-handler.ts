import type { Claimant } from "./claimant.ts";
import { ServiceHandler } from "./service-handler.ts";

/** Node ports: on addresses that the node has anyway. */
export class NodePortHandler extends ServiceHandler {
  constructor(claimant: Claimant) {
    super(claimant, { bindsAddresses: false, asksAccess: false });
  }
}
