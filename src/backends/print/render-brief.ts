import type { Service } from "../../core/model/service.ts";
import { formatPlace } from "../../core/model/socket-path.ts";
import type { NodeEndpoint, Op, SetOp } from "../../core/view/ops.ts";
import { renderOp } from "./render-op.ts";

/** One short line for people: `set endpoints default/web/a  10.1.0.5:8080 on node-a`. */
export function renderBrief(op: Op): string {
  if (op.op !== "set") return renderOp(op);
  const summary = summaryOf(op);
  return `set ${op.set} ${op.path}${summary === "" ? "" : `  ${summary}`}`;
}

function summaryOf(op: SetOp): string {
  switch (op.set) {
    case "services":
      return summaryOfService(op.value.service);
    case "endpoints":
      return summaryOfEndpoint(op.value);
    case "listeners": {
      const { address, port, mode, service } = op.value;
      return `${formatPlace(address, port)} ${mode} for ${service}`;
    }
    case "groups":
      return `${op.value.method}, health check ${op.value.healthCheck.protocol}`;
    case "nodes":
      return [...op.value.addresses, op.value.zone && `zone ${op.value.zone}`].join(" ").trim();
    case "security-groups":
      return `${op.value.rules.length} rules, else ${op.value.defaultAccess}`;
    case "certificates":
      return op.value.certFiles.join(" ");
  }
}

function summaryOfService(service: Service): string {
  const addresses = [
    ...service.clusterIPs,
    ...service.externalIPs,
    ...service.loadBalancerIPs,
    ...service.edgeIPs.map((edge) => edge.address),
  ];
  const ports = service.ports.map(({ port, protocol, nodePort }) =>
    nodePort === 0 ? `${port}/${protocol}` : `${port}:${nodePort}/${protocol}`,
  );
  return [service.type, ...addresses, ports.join(",")].join(" ");
}

function summaryOfEndpoint({ endpoint, local, ports }: NodeEndpoint): string {
  const hosts = endpoint.addresses.length > 0 ? endpoint.addresses : [endpoint.hostName];
  const targets = [...new Set(ports.map(({ target }) => target))];
  const where = hosts.flatMap((host) => targets.map((target) => formatPlace(host, target)));
  const place = endpoint.node === "" ? [] : [`on ${endpoint.node}`];
  return [...new Set(where), ...place, ...(local ? ["(local)"] : [])].join(" ");
}
