import * as z from "zod";
import {
  address,
  compact,
  type Dns,
  dnsJson,
  dnsSchema,
  guid,
  listOf,
  NO_DNS,
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

const REMOTE_FLAG = 1;
const PROVIDER_ADDRESS = "ProviderAddress";

export interface EndpointAddress {
  readonly address: string;
  readonly prefixLength: number;
}

/** A port of the virtual switch; a remote one stands for an address elsewhere. */
export interface Endpoint {
  readonly id: string;
  readonly name: string;
  readonly networkId: string;
  /** Empty where it is attached to no namespace. */
  readonly namespaceId: string;
  readonly addresses: readonly EndpointAddress[];
  /** `02-11-0A-F4-02-05`; empty where HNS chooses it. */
  readonly macAddress: string;
  readonly isRemote: boolean;
  /** Flags beside the one for remote. */
  readonly otherFlags: number;
  /** On overlay networks: the node that it is reached by; else empty. */
  readonly providerAddress: string;
  readonly otherPolicies: readonly Policy[];
  readonly routes: readonly Route[];
  readonly dns: Dns;
}

/** A remote endpoint, with nothing that it need not have. */
export function remoteEndpoint(
  fields: Pick<Endpoint, "id" | "name" | "networkId" | "addresses" | "macAddress"> & {
    readonly providerAddress?: string;
  },
): Endpoint {
  return {
    namespaceId: "",
    isRemote: true,
    otherFlags: 0,
    providerAddress: "",
    otherPolicies: [],
    routes: [],
    dns: NO_DNS,
    ...fields,
  };
}

const providerSchema = z.object({ ProviderAddress: address });

const schema = z.object({
  ID: guid,
  Name: text,
  HostComputeNetwork: guid,
  HostComputeNamespace: guid,
  Policies: listOf(policySchema),
  IpConfigurations: listOf(z.object({ IpAddress: address, PrefixLength: number })),
  Dns: dnsSchema,
  Routes: listOf(routeSchema),
  MacAddress: text,
  Flags: number,
});

/** @throws CoreError ERR_SYSTEM_CALL */
export function parseEndpoint(json: string): Endpoint {
  const fields = parseHcn(schema, json, "an endpoint");
  const provider = fields.Policies.find(({ type }) => type === PROVIDER_ADDRESS);
  return {
    id: fields.ID,
    name: fields.Name,
    networkId: fields.HostComputeNetwork,
    namespaceId: fields.HostComputeNamespace,
    addresses: fields.IpConfigurations.map(({ IpAddress, PrefixLength }) => ({
      address: IpAddress,
      prefixLength: PrefixLength,
    })),
    macAddress: fields.MacAddress,
    isRemote: (fields.Flags & REMOTE_FLAG) !== 0,
    otherFlags: fields.Flags & ~REMOTE_FLAG,
    providerAddress: providerSchema.safeParse(provider?.settings).data?.ProviderAddress ?? "",
    otherPolicies: fields.Policies.filter(({ type }) => type !== PROVIDER_ADDRESS),
    routes: fields.Routes,
    dns: fields.Dns,
  };
}

export function renderEndpoint(endpoint: Endpoint): string {
  const { providerAddress } = endpoint;
  const provider: readonly Policy[] =
    providerAddress === ""
      ? []
      : [{ type: PROVIDER_ADDRESS, settings: { ProviderAddress: providerAddress } }];
  const fields = compact({
    ID: endpoint.id,
    Name: endpoint.name,
    HostComputeNetwork: endpoint.networkId,
    HostComputeNamespace: endpoint.namespaceId,
    Policies: [...provider, ...endpoint.otherPolicies].map(policyJson),
    IpConfigurations: endpoint.addresses.map((one) =>
      compact({ IpAddress: one.address, PrefixLength: one.prefixLength }),
    ),
    Dns: dnsJson(endpoint.dns),
    Routes: endpoint.routes.map(routeJson),
    MacAddress: endpoint.macAddress,
    Flags: (endpoint.isRemote ? REMOTE_FLAG : 0) | endpoint.otherFlags,
    SchemaVersion: SCHEMA_VERSION,
  });
  return JSON.stringify(fields);
}
