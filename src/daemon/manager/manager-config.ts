import {
  type AddressPlan,
  checkAddressPlan,
  DEFAULT_ADDRESS_PLAN,
} from "../../brain/allocation/address-plan.ts";
import { isTrustDomain } from "../../brain/identity/spiffe-id.ts";
import { CoreError } from "../../core/errors.ts";
import { type ListenAddress, parseServerAddresses } from "../../core/options/listen-address.ts";
import { parseEtcdMembers } from "../source-spec.ts";
import type { ManagerValues } from "./manager-options.ts";

/** What makes an instance a manager. */
export interface ManagerConfig {
  readonly names: readonly string[];
  /** Where nodes reach it; undefined: it is found out. */
  readonly address: ListenAddress | undefined;
  /** Undefined: the state folder keeps it. */
  readonly etcd: readonly ListenAddress[] | undefined;
  readonly trustDomain: string;
  readonly timeoutMs: number;
  readonly certificateMs: number;
  readonly serviceCertificateMs: number;
  readonly plan: AddressPlan;
}

const MIN_TIMEOUT_MS = 100;
/** Shorter, and everybody would do nothing but renew. */
const MIN_CERTIFICATE_MS = 2000;

/** @throws CoreError ERR_CONFIG_INVALID */
export function resolveManager(values: ManagerValues): ManagerConfig {
  const { trustDomain, nodeTimeout, certificateLifetime, managerNames: names } = values;
  if (!isTrustDomain(trustDomain)) {
    throw invalid("trust-domain", trustDomain, 'lower-case letters, digits, ".", "_" and "-"');
  }
  if (nodeTimeout < MIN_TIMEOUT_MS) {
    throw invalid("node-timeout", `${nodeTimeout} ms`, `at least ${MIN_TIMEOUT_MS} ms`);
  }
  const plan = planOf(values);
  checkAddressPlan(plan);
  return {
    names,
    address: addressOf(values.managerAddress),
    etcd: etcdOf(values.managerEtcd),
    trustDomain,
    timeoutMs: nodeTimeout,
    certificateMs: certificateLifetime,
    serviceCertificateMs: Math.max(values.serviceCertificateLifetime, MIN_CERTIFICATE_MS),
    plan,
  };
}

function planOf({
  nodeRanges,
  serviceRanges,
  nodePrefixV4,
  nodePrefixV6,
}: ManagerValues): AddressPlan {
  const { nodes, services } = DEFAULT_ADDRESS_PLAN;
  return {
    ...DEFAULT_ADDRESS_PLAN,
    nodes: nodeRanges.length > 0 ? nodeRanges : nodes,
    nodePrefix: { v4: nodePrefixV4, v6: nodePrefixV6 },
    services:
      serviceRanges.length > 0
        ? { "round-robin": serviceRanges, closest: serviceRanges, instance: serviceRanges }
        : services,
  };
}

function addressOf(text: string | undefined): ListenAddress | undefined {
  if (text === undefined) return undefined;
  const [address, ...more] = parseServerAddresses(text) ?? [];
  if (address === undefined || more.length > 0) throw invalid("manager-address", text, "HOST:PORT");
  return address;
}

function etcdOf(text: string | undefined): readonly ListenAddress[] | undefined {
  if (text === undefined) return undefined;
  const members = parseEtcdMembers(text);
  if (members === undefined) throw invalid("manager-etcd", text, "HOST:PORT[,HOST:PORT]");
  return members;
}

function invalid(option: string, value: string, expected: string): CoreError {
  return new CoreError("ERR_CONFIG_INVALID", `--${option}: "${value}"; expected ${expected}`);
}
