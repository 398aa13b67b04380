import { messageOf } from "../../../core/errors.ts";
import type { Log } from "../../../core/log.ts";
import { parseCidr } from "../../../core/model/address.ts";
import type { EnvironmentManager } from "../../../edge/environment/environment-manager.ts";
import type { RemoteView } from "../../../edge/overlay/directory.ts";
import type { Overlay } from "../../../edge/overlay/overlay.ts";
import { publicTunnelKey } from "../../../edge/tunnel/tunnel-keys.ts";
import type { EnteredEdge } from "./enter-edge.ts";
import { readView } from "./kept-view.ts";
import { Member } from "./member.ts";

export interface MemberParts {
  readonly node: string;
  /** Base64, of the tunnel. */
  readonly privateKey: string;
  readonly overlay: Overlay;
  readonly environment: EnvironmentManager;
  readonly log: Log;
}

/** Has a node follow its manager: what is known of others goes to the tunnel and to the kernel's routes. */
export async function openMember(edge: EnteredEdge, parts: MemberParts): Promise<Member> {
  const { node, privateKey, overlay, environment, log } = parts;
  const kept = await readView(edge.folder);
  let networks = "";
  const followNetworks = ({ peers }: RemoteView): void => {
    const texts = peers.flatMap(({ subnets }) => subnets);
    if (texts.join() === networks) return;
    networks = texts.join();
    const cidrs = texts.flatMap((text) => parseCidr(text) ?? []);
    environment.setPeerNetworks(cidrs).catch((error: unknown) => {
      networks = "";
      log.error({ err: error }, `other nodes are not routed to: ${messageOf(error)}`);
    });
  };
  const member = new Member({
    node,
    manager: edge.manager,
    folder: edge.folder,
    kept,
    renewEveryMs: edge.renewEveryMs,
    place: () => ({ ip: environment.nodeIp, port: environment.nodePort }),
    publicKey: publicTunnelKey(privateKey),
    onView: (view) => {
      overlay.setRemote(view);
      followNetworks(view);
    },
    log,
  });
  overlay.setDirectory(member);
  member.start();
  return member;
}
