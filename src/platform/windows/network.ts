import * as z from "zod";
import {
  address,
  compact,
  type Dns,
  dnsJson,
  dnsSchema,
  guid,
  listOf,
  number,
  type Policy,
  parseHcn,
  policyJson,
  policySchema,
  type Route,
  routeJson,
  routeSchema,
  SCHEMA_VERSION,
  text,
} from "./hcn-json.ts";

const REMOTE_SUBNET_ROUTE = "RemoteSubnetRoute";

export interface Subnet {
  /** `10.244.1.0/24`. */
  readonly prefix: string;
  readonly policies: readonly Policy[];
  readonly routes: readonly Route[];
  readonly flags: number;
}

export interface Ipam {
  readonly type: string;
  readonly subnets: readonly Subnet[];
}

/** On overlay networks: the workloads of another node. */
export interface RemoteSubnet {
  readonly prefix: string;
  readonly isolationId: number;
  /** Address of the node. */
  readonly providerAddress: string;
  readonly macAddress: string;
}

export interface MacRange {
  readonly start: string;
  readonly end: string;
}

/** A virtual switch. It is read and watched, never made. */
export interface Network {
  readonly id: string;
  readonly name: string;
  /** `L2Bridge`, `Overlay`, ...; HCN has more than Portolan treats specially. */
  readonly type: string;
  readonly ipams: readonly Ipam[];
  readonly remoteSubnets: readonly RemoteSubnet[];
  readonly otherPolicies: readonly Policy[];
  readonly macRanges: readonly MacRange[];
  readonly dns: Dns;
  readonly flags: number;
}

/** The networks of its addresses, in the order of HCN. */
export function subnetsOf({ ipams }: Pick<Network, "ipams">): readonly string[] {
  return ipams.flatMap(({ subnets }) => subnets.map(({ prefix }) => prefix));
}

const remoteSubnetSchema: z.ZodType<RemoteSubnet> = z
  .object({
    DestinationPrefix: text,
    IsolationId: number,
    ProviderAddress: address,
    DistributedRouterMacAddress: text,
  })
  .transform((fields) => ({
    prefix: fields.DestinationPrefix,
    isolationId: fields.IsolationId,
    providerAddress: fields.ProviderAddress,
    macAddress: fields.DistributedRouterMacAddress,
  }));

const subnetSchema: z.ZodType<Subnet> = z
  .object({
    IpAddressPrefix: text,
    Policies: listOf(policySchema),
    Routes: listOf(routeSchema),
    Flags: number,
  })
  .transform((fields) => ({
    prefix: fields.IpAddressPrefix,
    policies: fields.Policies,
    routes: fields.Routes,
    flags: fields.Flags,
  }));

const macPoolSchema = z
  .object({ Ranges: listOf(z.object({ StartMacAddress: text, EndMacAddress: text })) })
  .nullish();

const schema = z.object({
  ID: guid,
  Name: text,
  Type: text,
  Policies: listOf(policySchema),
  MacPool: macPoolSchema,
  Dns: dnsSchema,
  Ipams: listOf(z.object({ Type: text, Subnets: listOf(subnetSchema) })),
  Flags: number,
});

/** @throws CoreError ERR_SYSTEM_CALL */
export function parseNetwork(json: string): Network {
  const fields = parseHcn(schema, json, "a network");
  const remoteSubnets: RemoteSubnet[] = [];
  const otherPolicies: Policy[] = [];
  for (const policy of fields.Policies) {
    const remote = remoteSubnetSchema.safeParse(policy.settings);
    if (policy.type === REMOTE_SUBNET_ROUTE && remote.success) remoteSubnets.push(remote.data);
    else otherPolicies.push(policy);
  }
  return {
    id: fields.ID,
    name: fields.Name,
    type: fields.Type,
    ipams: fields.Ipams.map(({ Type, Subnets }) => ({ type: Type, subnets: Subnets })),
    remoteSubnets,
    otherPolicies,
    macRanges: (fields.MacPool?.Ranges ?? []).map((range) => ({
      start: range.StartMacAddress,
      end: range.EndMacAddress,
    })),
    dns: fields.Dns,
    flags: fields.Flags,
  };
}

export function renderNetwork(network: Network): string {
  const { remoteSubnets, otherPolicies } = network;
  const policies = [...remoteSubnets.map(remoteSubnetPolicy), ...otherPolicies];
  const ranges = network.macRanges.map(({ start, end }) =>
    compact({ StartMacAddress: start, EndMacAddress: end }),
  );
  const fields = compact({
    ID: network.id,
    Name: network.name,
    Type: network.type,
    Policies: policies.map(policyJson),
    MacPool: compact({ Ranges: ranges }),
    Dns: dnsJson(network.dns),
    Ipams: network.ipams.map(({ type, subnets }) =>
      compact({ Type: type, Subnets: subnets.map(subnetJson) }),
    ),
    Flags: network.flags,
    SchemaVersion: SCHEMA_VERSION,
  });
  return JSON.stringify(fields);
}

function remoteSubnetPolicy(subnet: RemoteSubnet): Policy {
  const settings = compact({
    DestinationPrefix: subnet.prefix,
    IsolationId: subnet.isolationId,
    ProviderAddress: subnet.providerAddress,
    DistributedRouterMacAddress: subnet.macAddress,
  });
  return { type: REMOTE_SUBNET_ROUTE, settings };
}

function subnetJson({ prefix, policies, routes, flags }: Subnet): object {
  return compact({
    IpAddressPrefix: prefix,
    Policies: policies.map(policyJson),
    Routes: routes.map(routeJson),
    Flags: flags,
  });
}
