import { messageOf } from "../../../core/errors.ts";
import type { Log } from "../../../core/log.ts";
import type { EnvironmentManager } from "../../../edge/environment/environment-manager.ts";
import { workloadName } from "../../../edge/environment/workload.ts";
import type { RemoteView } from "../../../edge/overlay/directory.ts";
import type { Overlay } from "../../../edge/overlay/overlay.ts";
import { publicTunnelKey } from "../../../edge/tunnel/tunnel-keys.ts";
import type { EnteredEdge } from "./enter-edge.ts";
import { followNetworks } from "./follow-networks.ts";
import { keepMembership } from "./kept-membership.ts";
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
  const { ring } = edge;
  const kept = await readView(edge.folder);
  const networks = followNetworks(environment, log);
  let ingress = "[]";
  const followIngress = ({ ingress: ports = [] }: RemoteView): void => {
    const text = JSON.stringify(ports);
    if (text === ingress) return;
    ingress = text;
    environment.setIngress(ports).catch((error: unknown) => {
      ingress = "";
      log.error({ err: error }, `published services are not led on: ${messageOf(error)}`);
    });
  };
  const member = new Member({
    node,
    ring,
    onManagers: () => {
      const kept = { ...edge.membership, told: ring.told };
      keepMembership(edge.folder, kept).catch((err: unknown) =>
        log.warn({ err }, "what managers there are could not be kept"),
      );
    },
    folder: edge.folder,
    kept,
    renewEveryMs: edge.renewEveryMs,
    place: () => ({ ip: environment.nodeIp, port: environment.nodePort }),
    publicKey: publicTunnelKey(privateKey),
    nodes: () => overlay.nodes(),
    onRefused: ({ appName, instanceNumber }, reason) => {
      const serviceName = workloadName(appName, instanceNumber);
      environment.events.tell({ type: "refused", serviceName, reason });
    },
    onAccepted: ({ appName, instanceNumber }) => {
      const serviceName = workloadName(appName, instanceNumber);
      environment.events.tell({ type: "accepted", serviceName });
    },
    onView: (view) => {
      overlay.setRemote(view);
      networks(view);
      followIngress(view);
    },
    log,
  });
  overlay.setDirectory(member);
  member.start();
  return member;
}
