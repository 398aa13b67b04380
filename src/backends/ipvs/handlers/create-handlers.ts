import type { Handlers } from "../patch/patch.ts";
import type { Claimant } from "./claimant.ts";
import { ClusterIpHandler } from "./cluster-ip-handler.ts";
import { ListenerHandler } from "./listener-handler.ts";
import { LoadBalancerHandler } from "./load-balancer-handler.ts";
import { NodePortHandler } from "./node-port-handler.ts";

export function createHandlers(claimant: Claimant): Handlers {
  return {
    ClusterIP: new ClusterIpHandler(claimant),
    NodePort: new NodePortHandler(claimant),
    LoadBalancer: new LoadBalancerHandler(claimant),
    Listener: new ListenerHandler(claimant),
  };
}
