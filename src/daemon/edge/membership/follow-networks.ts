import { messageOf } from "../../../core/errors.ts";
import type { Log } from "../../../core/log.ts";
import { parseCidr } from "../../../core/model/address.ts";
import type { EnvironmentManager } from "../../../edge/environment/environment-manager.ts";
import type { RemoteView } from "../../../edge/overlay/directory.ts";

/** Has the kernel route to the networks of other nodes, as each view says them. */
export function followNetworks(
  environment: EnvironmentManager,
  log: Log,
): (view: RemoteView) => void {
  let networks = "";
  return ({ peers }) => {
    const texts = peers.flatMap(({ subnets }) => subnets);
    if (texts.join() === networks) return;
    networks = texts.join();
    const cidrs = texts.flatMap((text) => parseCidr(text) ?? []);
    environment.setPeerNetworks(cidrs).catch((error: unknown) => {
      networks = "";
      log.error({ err: error }, `other nodes are not routed to: ${messageOf(error)}`);
    });
  };
}
