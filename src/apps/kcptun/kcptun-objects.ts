import { TRANSPORT_ANNOTATION } from "../../backends/userspace/transport-of.ts";
import { canonicalIp, type HostPort } from "../../core/model/address.ts";
import { endpointSchema } from "../../core/model/endpoint.ts";
import { groupSchema } from "../../core/model/group.ts";
import { listenerSchema } from "../../core/model/listener.ts";
import type { ModelObject } from "../../core/model/object.ts";
import { serviceSchema } from "../../core/model/service.ts";
import { nameOfPlace } from "../../core/model/socket-path.ts";

/** What everything of the tunnel is called. */
const NAME = "kcptun";
const BY_KCP = { annotations: { [TRANSPORT_ANNOTATION]: "kcp" } };
/** One failure may be a loss on a bad path; two in a row are none. */
const CHECK = { protocol: "tcp", timeoutMs: 5000, intervalMs: 2000, up: 1, down: 2 } as const;

export interface TunnelEnd {
  readonly role: "server" | "client";
  /** An IP address and a port. */
  readonly listen: HostPort;
  /** The target of a server; the server of a client. */
  readonly to: HostPort;
}

/** One end of a tunnel as a service: clients come by KCP to a server, and a client's server is reached by it. */
export function kcptunObjects({ role, listen, to }: TunnelEnd): readonly ModelObject[] {
  const ip = canonicalIp(to.host);
  return [
    serviceSchema.parse({
      kind: "Service",
      name: NAME,
      type: "Plain",
      ports: [{ port: listen.port, protocol: "TCP" }],
    }),
    groupSchema.parse({
      kind: "Group",
      name: NAME,
      healthCheck: CHECK,
      ...(role === "client" && BY_KCP),
    }),
    listenerSchema.parse({
      kind: "Listener",
      name: NAME,
      address: listen.host,
      port: listen.port,
      service: `default/${NAME}`,
      mode: "tcp",
      ...(role === "server" && BY_KCP),
    }),
    endpointSchema.parse({
      kind: "Endpoint",
      name: nameOfPlace(to.host, to.port),
      group: NAME,
      ...(ip === undefined ? { hostName: to.host } : { addresses: [ip] }),
      ports: [{ port: to.port }],
    }),
  ];
}
