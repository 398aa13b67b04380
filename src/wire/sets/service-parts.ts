import { NO_HINTS } from "../../core/model/route-hints.ts";
import type { EdgeAddress, GroupRef } from "../../core/model/service.ts";
import type { EndingPlace } from "../../core/view/ops.ts";
import type { ProtoReader } from "../protobuf/proto-reader.ts";
import { checkedCidr, checkedIp, checkedPort, refused } from "./checks.ts";
import { readIpSet } from "./ip-set.ts";
import { EDGE_POLICIES } from "./service-fields.ts";

/** The messages within `localv1.Service`. */

const MAX_AFFINITY_SECONDS = 86_400;

/** The addresses of a service. */
export interface ServiceIps {
  clusterIPs: readonly string[];
  externalIPs: readonly string[];
  loadBalancerIPs: readonly string[];
}

export function readServiceIps(reader: ProtoReader, into: ServiceIps): void {
  const outer = reader.enter();
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 1) into.clusterIPs = readIpSet(reader, "ServiceIPs.ClusterIPs");
    else if (field === 2) into.externalIPs = readIpSet(reader, "ServiceIPs.ExternalIPs");
    else if (field === 4) into.loadBalancerIPs = readIpSet(reader, "ServiceIPs.LoadBalancerIPs");
    else reader.skip();
  }
  reader.leave(outer);
}

/** Which addresses a filter is for is not kept: in the model they are the load-balancer addresses. */
export function readIpFilter(reader: ProtoReader, into: string[]): void {
  const outer = reader.enter();
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 2) into.push(checkedCidr("IPFilter.SourceRanges", reader.string().trim()));
    else reader.skip();
  }
  reader.leave(outer);
}

export function readAffinity(reader: ProtoReader): number {
  const outer = reader.enter();
  let seconds = 0;
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 1) seconds = reader.int32();
    else reader.skip();
  }
  reader.leave(outer);
  if (seconds >= 0 && seconds <= MAX_AFFINITY_SECONDS) return seconds;
  throw refused(
    "ClientIPAffinity.TimeoutSeconds",
    seconds,
    `a whole number from 0 to ${MAX_AFFINITY_SECONDS}`,
  );
}

export function readEndingPlace(reader: ProtoReader): EndingPlace {
  const outer = reader.enter();
  let portIndex = 0;
  let address = "";
  let target = 0;
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 1) portIndex = reader.uint32();
    else if (field === 2) address = checkedIp("EndingPlace.Address", reader.string());
    else if (field === 3) target = checkedPort("EndingPlace.Target", reader.uint32());
    else reader.skip();
  }
  reader.leave(outer);
  if (address === "" || target === 0) {
    throw refused("Service.Ending", { address, target }, "an address and a port");
  }
  return { portIndex, address, target };
}

export function readEdgeAddress(reader: ProtoReader): EdgeAddress {
  const outer = reader.enter();
  let address = "";
  let number = 0;
  let instance = 0;
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 1) address = reader.string();
    else if (field === 2) number = reader.uint32();
    else if (field === 3) instance = reader.uint32();
    else reader.skip();
  }
  reader.leave(outer);
  const policy = EDGE_POLICIES[number];
  if (policy === undefined) throw refused("EdgeAddress.Policy", number, "0, 1 or 2");
  return {
    address: checkedIp("EdgeAddress.Address", address),
    policy,
    instance: policy === "instance" ? instance : -1,
  };
}

export function readGroupRef(reader: ProtoReader): GroupRef {
  const outer = reader.enter();
  let group = "";
  let weight = 0;
  let host = "";
  let port = 0;
  let path = "";
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    switch (field) {
      case 1:
        group = reader.string();
        break;
      case 2:
        weight = reader.uint32();
        break;
      case 3:
        host = reader.string();
        break;
      case 4:
        port = reader.uint32();
        break;
      case 5:
        path = reader.string();
        break;
      default:
        reader.skip();
    }
  }
  reader.leave(outer);
  const plain = host === "" && port === 0 && path === "";
  return { group, weight, hints: plain ? NO_HINTS : { host, port, path } };
}
