import type { Protocol } from "../../core/model/common.ts";
import type { ServicePort } from "../../core/model/service.ts";
import type { ProtoReader } from "../protobuf/proto-reader.ts";
import type { ProtoWriter } from "../protobuf/proto-writer.ts";
import { checkedOptionalPort, checkedPort, refused } from "./checks.ts";

/**
 * An old client looks the port of an endpoint up by the service port's name, or by the target port's
 * name where it has none; only without both it takes the number of the service. A port without a name
 * is therefore given this target name, and endpoints say their port under it. It holds characters that
 * no port name of Kubernetes can have.
 */
export const UNNAMED_TARGET = "(unnamed)";

/**
 * Which ports without a name get that target name: all of them where every endpoint is sent with its
 * ports resolved (node-local API), or only those without a number (global API).
 */
export type PortStyle = "resolved" | "as-given";

export const PROTOCOL_NUMBER: Readonly<Record<Protocol, number>> = { TCP: 1, UDP: 2, SCTP: 3 };
export const PROTOCOL_BY_NUMBER: readonly (Protocol | undefined)[] = [
  undefined,
  "TCP",
  "UDP",
  "SCTP",
];

const OWN_TARGET_NAME = 100;

export function writePortMapping(
  writer: ProtoWriter,
  field: number,
  port: ServicePort,
  style: PortStyle,
): void {
  const renamed = port.name === "" && (style === "resolved" || port.targetPort === 0);
  writer.begin(field);
  writer.string(1, port.name);
  writer.uint32(2, PROTOCOL_NUMBER[port.protocol]);
  writer.uint32(3, port.port);
  writer.uint32(4, port.nodePort);
  writer.uint32(5, port.targetPort);
  writer.string(6, renamed ? UNNAMED_TARGET : port.targetPortName);
  if (renamed) writer.string(OWN_TARGET_NAME, port.targetPortName);
  writer.end();
}

export function readPortMapping(reader: ProtoReader): ServicePort {
  const outer = reader.enter();
  let name = "";
  let protocol = 0;
  let port = 0;
  let nodePort = 0;
  let targetPort = 0;
  let targetPortName = "";
  let ownTargetName = "";
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    switch (field) {
      case 1:
        name = reader.string();
        break;
      case 2:
        protocol = reader.uint32();
        break;
      case 3:
        port = reader.int32();
        break;
      case 4:
        nodePort = reader.int32();
        break;
      case 5:
        targetPort = reader.int32();
        break;
      case 6:
        targetPortName = reader.string();
        break;
      case OWN_TARGET_NAME:
        ownTargetName = reader.string();
        break;
      default:
        reader.skip();
    }
  }
  reader.leave(outer);
  return {
    name,
    protocol: protocolOf(protocol),
    port: checkedPort("PortMapping.Port", port),
    nodePort: checkedOptionalPort("PortMapping.NodePort", nodePort),
    targetPort: checkedOptionalPort("PortMapping.TargetPort", targetPort),
    targetPortName: targetPortName === UNNAMED_TARGET ? ownTargetName : targetPortName,
  };
}

function protocolOf(number: number): Protocol {
  const protocol = PROTOCOL_BY_NUMBER[number];
  if (protocol !== undefined) return protocol;
  throw refused("PortMapping.Protocol", number, "1 (TCP), 2 (UDP) or 3 (SCTP)");
}
