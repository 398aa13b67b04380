import { isPort } from "../../core/model/address.ts";
import { PROTOCOLS, type Protocol } from "../../core/model/common.ts";
import type { EndpointPort } from "../../core/model/endpoint.ts";
import type { ServicePort } from "../../core/model/service.ts";

export const SERVICE_PORT_FORM =
  "[NAME:]PORT[:TARGET][/PROTOCOL][@NODE-PORT] such as http:80:8080/tcp";
export const ENDPOINT_PORT_FORM = "PORT, or NAME=PORT such as http=8080";

const WORD = "[^\\s,:/@=]{1,63}";
const SERVICE_PORT = new RegExp(
  `^(?:(?<name>${WORD}):)??(?<port>\\d{1,5})(?::(?<target>${WORD}))?(?:/(?<protocol>[A-Za-z]+))?(?:@(?<node>\\d{1,5}))?$`,
);
const ENDPOINT_PORT = new RegExp(`^(?:(?<name>${WORD})=)?(?<port>\\d{1,5})$`);

/** Reads `http:80:8080/tcp@30080`, of which only the port is needed; undefined where it is not valid. */
export function parseServicePort(text: string): ServicePort | undefined {
  const match = SERVICE_PORT.exec(text)?.groups;
  if (match === undefined) return undefined;
  const { name = "", target = "" } = match;
  const port = Number(match["port"]);
  const nodePort = Number(match["node"] ?? 0);
  const protocol = protocolOf(match["protocol"] ?? "tcp");
  const isNumber = /^\d+$/.test(target);
  const targetPort = isNumber ? Number(target) : 0;
  if (protocol === undefined || !isPort(port) || /^\d+$/.test(name)) return undefined;
  if ((isNumber && !isPort(targetPort)) || (nodePort !== 0 && !isPort(nodePort))) return undefined;
  return { name, protocol, port, nodePort, targetPort, targetPortName: isNumber ? "" : target };
}

function protocolOf(text: string): Protocol | undefined {
  return PROTOCOLS.find((protocol) => protocol === text.toUpperCase());
}

export function formatServicePort(port: ServicePort): string {
  const name = port.name === "" ? "" : `${port.name}:`;
  const target = port.targetPort === 0 ? port.targetPortName : String(port.targetPort);
  const node = port.nodePort === 0 ? "" : `@${port.nodePort}`;
  return `${name}${port.port}${target === "" ? "" : `:${target}`}/${port.protocol.toLowerCase()}${node}`;
}

/** Reads `8080` or `http=8080`; undefined where it is neither. */
export function parseEndpointPort(text: string): EndpointPort | undefined {
  const match = ENDPOINT_PORT.exec(text)?.groups;
  const port = Number(match?.["port"]);
  return isPort(port) ? { name: match?.["name"] ?? "", port } : undefined;
}

export function formatEndpointPort({ name, port }: EndpointPort): string {
  return name === "" ? String(port) : `${name}=${port}`;
}
