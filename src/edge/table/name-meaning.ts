import type { EdgeAddress } from "../../core/model/service.ts";

/** What names need to know of a service. */
export interface NamedService {
  readonly addresses: readonly EdgeAddress[];
  readonly instances: readonly NamedInstance[];
}

export interface NamedInstance {
  /** Its number among the instances of the service. */
  readonly number: number;
  /** Its own addresses, by which it can be reached from here. */
  readonly addresses: readonly string[];
  /** Share of new clients; 1 where it is missing. */
  readonly weight?: number;
  /** Where it is known what it serves on. */
  readonly ports?: readonly InstancePort[];
}

export interface InstancePort {
  readonly protocol: "tcp" | "udp";
  readonly port: number;
}

/** Finds the service of a name in lower case. */
export type FindService<S extends NamedService> = (name: string) => S | undefined;

/** What a name stands for: a service, or one of its policies. */
export type NameMeaning<S extends NamedService> = {
  readonly service: S;
  /** Of the service itself. */
  readonly serviceName: string;
} & (
  | { readonly kind: "plain" | "rr" | "closest" }
  | { readonly kind: "instance"; readonly number: number }
);

const INSTANCE_LABEL = /^(?:instance-?)?(\d{1,9})$/;
const PLAIN_ORDER = ["round-robin", "closest", "instance"] as const;

/**
 * `NAME` of a service, `rr.NAME`, `closest.NAME`, `2.NAME` or `instance-2.NAME`, in any case of letters;
 * undefined where it is none of them. Whether there is such an address is another question.
 */
export function meaningOfName<S extends NamedService>(
  name: string,
  find: FindService<S>,
): NameMeaning<S> | undefined {
  const wanted = name.toLowerCase().replace(/\.$/, "");
  const plain = find(wanted);
  if (plain !== undefined) return { kind: "plain", service: plain, serviceName: wanted };
  const dot = wanted.indexOf(".");
  const [label, serviceName] = [wanted.slice(0, dot), wanted.slice(dot + 1)];
  const service = dot < 0 ? undefined : find(serviceName);
  if (service === undefined) return undefined;
  if (label === "rr" || label === "closest") return { kind: label, service, serviceName };
  const number = INSTANCE_LABEL.exec(label)?.[1];
  if (number === undefined) return undefined;
  return { kind: "instance", number: Number(number), service, serviceName };
}

/** Names of services that a name in lower case can be of: itself, and what stands behind the word of a policy. */
export function candidatesOf(name: string): readonly string[] {
  const dot = name.indexOf(".");
  const label = name.slice(0, Math.max(0, dot));
  const isPolicy = label === "rr" || label === "closest" || INSTANCE_LABEL.test(label);
  return isPolicy ? [name, name.slice(dot + 1)] : [name];
}

/**
 * The service addresses that a name has. A plain name has those of the first policy that the service
 * has any of, perhaps none; undefined where there is no such name.
 */
export function serviceAddresses(
  meaning: NameMeaning<NamedService>,
): readonly string[] | undefined {
  const { addresses } = meaning.service;
  const those = (isIt: (address: EdgeAddress) => boolean): readonly string[] =>
    addresses.filter(isIt).map(({ address }) => address);
  if (meaning.kind === "plain") {
    const ofPolicies = PLAIN_ORDER.map((policy) => those((one) => one.policy === policy));
    return ofPolicies.find((found) => found.length > 0) ?? [];
  }
  const found = those(({ policy, instance }) => {
    if (meaning.kind === "instance") return policy === "instance" && instance === meaning.number;
    return policy === (meaning.kind === "rr" ? "round-robin" : "closest");
  });
  return found.length === 0 ? undefined : found;
}
