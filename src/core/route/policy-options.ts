import { CoreError } from "../errors.ts";
import { parseCidr } from "../model/address.ts";
import type { ValuesOf } from "../options/option-spec.ts";
import { NODE_PORT_ADDRESSES_FORM, parseNodePortAddresses } from "./parse-node-port-addresses.ts";
import type { LocalDetection, NodePortAddresses, RoutePolicy } from "./route-policy.ts";

export const POLICY_OPTIONS = {
  nodeportAddresses: {
    kind: "string",
    placeholder: "WHICH",
    suggestions: ["primary", "all", "localhost"],
    default: "primary",
    help: "where node ports answer: primary, all, localhost, or networks separated by commas",
  },
  masqueradeAll: { kind: "boolean", help: "masquerade everything that goes to a cluster IP" },
  detectLocalMode: {
    kind: "enum",
    values: ["none", "cluster-cidr", "node-cidr", "interface"],
    help: "how workloads are told from others; cluster-cidr where --cluster-cidr is given, else none",
  },
  clusterCidr: {
    kind: "string",
    placeholder: "CIDRS",
    help: "networks of the cluster's workloads, separated by commas",
  },
} as const;

/** What an operator sets for all services, from its options. @throws CoreError ERR_USAGE */
export function routePolicyOf(values: ValuesOf<typeof POLICY_OPTIONS>): RoutePolicy {
  return {
    nodePortAddresses: nodePortAddressesOf(values.nodeportAddresses),
    masqueradeAll: values.masqueradeAll,
    localDetection: localDetectionOf(values),
  };
}

/** Reads `--nodeport-addresses`. @throws CoreError ERR_USAGE */
export function nodePortAddressesOf(text: string): NodePortAddresses {
  const addresses = parseNodePortAddresses(text);
  if (addresses !== undefined) return addresses;
  throw new CoreError(
    "ERR_USAGE",
    `--nodeport-addresses: "${text}" is not valid; expected ${NODE_PORT_ADDRESSES_FORM}`,
  );
}

function localDetectionOf(values: ValuesOf<typeof POLICY_OPTIONS>): LocalDetection {
  const { clusterCidr } = values;
  const mode = values.detectLocalMode ?? (clusterCidr === undefined ? "none" : "cluster-cidr");
  if (mode !== "cluster-cidr") return { mode };
  if (clusterCidr === undefined) {
    throw new CoreError("ERR_USAGE", "--cluster-cidr: missing; expected networks to detect by");
  }
  return { mode, cidrs: parseNetworks("--cluster-cidr", clusterCidr, "networks") };
}

function parseNetworks(flag: string, text: string, expected: string): readonly string[] {
  return text.split(",").map((part) => {
    const cidr = parseCidr(part.trim());
    if (cidr !== undefined) return cidr.text;
    throw new CoreError(
      "ERR_USAGE",
      `${flag}: "${part}" is not valid; expected ${expected} such as 10.0.0.0/8`,
    );
  });
}
