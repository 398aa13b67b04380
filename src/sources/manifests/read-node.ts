import { parseCidr } from "../../core/model/address.ts";
import { EMPTY } from "../../core/model/common.ts";
import type { Node } from "../../core/model/node.ts";
import { isRaw, type Raw, type RawReader } from "../../core/model/raw-reader.ts";
import { readMetadata } from "./read-metadata.ts";

const AUTOSCALER_TAINT = "ToBeDeletedByClusterAutoscaler";
const ZONE_LABEL = "topology.kubernetes.io/zone";

/** Reads a v1 Node. */
export function readNode(reader: RawReader, raw: Raw): Node {
  const { name, labels, annotations } = readMetadata(reader, raw);
  return {
    kind: "Node",
    name: reader.intern(name),
    labels,
    annotations,
    addresses: readAddresses(reader, raw),
    zone: reader.intern(labels[ZONE_LABEL] ?? ""),
    subnets: readSubnets(reader, raw),
    tunnel: undefined,
    alive: true,
    leaving: readLeaving(reader, raw),
  };
}

/** As kube-proxy sees it: a node that is being deleted, or that the autoscaler is about to remove. */
function readLeaving(reader: RawReader, raw: Raw): string {
  const metadata = reader.object(raw, "metadata");
  if ((metadata["deletionTimestamp"] ?? undefined) !== undefined) return "it is being deleted";
  const taints = reader.list(reader.object(raw, "spec"), "taints");
  const isTainted = taints.some((taint) => isRaw(taint) && taint["key"] === AUTOSCALER_TAINT);
  return isTainted ? `it is tainted ${AUTOSCALER_TAINT}` : "";
}

/** Internal addresses before external ones, as kube-proxy takes a node's primary address. */
function readAddresses(reader: RawReader, raw: Raw): readonly string[] {
  const status = reader.object(raw, "status");
  const internal: string[] = [];
  const external: string[] = [];
  reader.enter("status");
  reader.each(status, "addresses", (item) => {
    const isInternal = item["type"] === "InternalIP";
    if (!isInternal && item["type"] !== "ExternalIP") return;
    if ((item["address"] ?? "") === "") return;
    const ip = reader.ip("address", item["address"]);
    if (ip !== undefined) (isInternal ? internal : external).push(ip);
  });
  reader.leave();
  return [...new Set([...internal, ...external])];
}

function readSubnets(reader: RawReader, raw: Raw): readonly string[] {
  const spec = reader.object(raw, "spec");
  const cidrs = reader.list(spec, "podCIDRs");
  const values = cidrs.length > 0 ? cidrs : [spec["podCIDR"]].filter((cidr) => (cidr ?? "") !== "");
  if (values.length === 0) return EMPTY;
  reader.enter("spec");
  reader.enter("podCIDRs");
  const subnets = values.flatMap((value, index) => {
    const cidr = typeof value === "string" ? parseCidr(value) : undefined;
    if (cidr === undefined) reader.fail(index, value, "a network such as 10.244.1.0/24");
    return cidr?.text ?? [];
  });
  reader.leave();
  reader.leave();
  return subnets;
}
