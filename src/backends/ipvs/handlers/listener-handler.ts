import type { Claimant } from "./claimant.ts";
import { ServiceHandler } from "./service-handler.ts";

/** Listeners: on addresses of the node or others, with the rules of their security groups. */
export class ListenerHandler extends ServiceHandler {
  constructor(claimant: Claimant) {
    super(claimant, { bindsAddresses: true, asksAccess: true });
  }
}
