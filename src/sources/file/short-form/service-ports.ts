import { protocolOf } from "../../../core/model/listener.ts";
import type { ShortListen, ShortPort, ShortService } from "./short-form.ts";

/** The port number of a service that only unix sockets lead to: it is never seen on a network. */
const UNSEEN_PORT = 1;

/** A port of a service, complete. */
export interface ExpandedPort {
  readonly name: string;
  readonly protocol: "TCP" | "UDP" | "SCTP";
  readonly port: number;
  readonly nodePort: number | undefined;
  readonly targetPort: number;
  readonly targetPortName: string;
}

/** The ports of a service: those that it says, or one for each protocol that it listens for. */
export function portsOf({ ports, listen }: ShortService): readonly ExpandedPort[] {
  return ports.length > 0 ? ports.map(explicitPort) : implicitPorts(listen);
}

function explicitPort({
  name,
  protocol,
  port,
  nodePort,
  targetPort = port,
}: ShortPort): ExpandedPort {
  const isNamed = typeof targetPort === "string";
  return {
    name,
    protocol,
    port,
    nodePort,
    targetPort: isNamed ? 0 : targetPort,
    targetPortName: isNamed ? targetPort : "",
  };
}

function implicitPorts(listen: readonly ShortListen[]): readonly ExpandedPort[] {
  const protocols = [...new Set(listen.map(protocolOf))];
  return protocols.map((protocol) => {
    const first = listen.find((one) => protocolOf(one) === protocol && one.at.port !== 0);
    return {
      name: protocols.length === 1 ? "" : protocol.toLowerCase(),
      protocol,
      port: first?.at.port ?? UNSEEN_PORT,
      nodePort: undefined,
      targetPort: 0,
      targetPortName: "",
    };
  });
}

/** The port that a listener leads to, by what it says, its protocol and its number; undefined: unclear. */
export function portFor(
  listen: ShortListen,
  ports: readonly ExpandedPort[],
): ExpandedPort | undefined {
  if (listen.servicePort !== undefined) {
    return ports.find((port) => port.name === listen.servicePort);
  }
  const fitting = ports.filter((port) => port.protocol === protocolOf(listen));
  if (fitting.length === 1) return fitting[0];
  return fitting.find((port) => port.port === listen.at.port);
}
