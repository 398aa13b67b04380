import * as z from "zod";
import { CoreError } from "../../core/errors.ts";
import { isPort } from "../../core/model/address.ts";
import { ipSchema } from "../../core/model/common.ts";
import { problemsError } from "../../core/model/problems.ts";
import type { EdgePolicy } from "../../core/model/service.ts";
import { checkAgainst } from "../../core/model/zod-problems.ts";
import { isJobName } from "./cluster-topics.ts";

/** An instance of a job as the service manager of a cluster tells it. */
export interface ClusterInstance {
  readonly number: number;
  /** Of its namespace, one of each family at most; none before it runs. */
  readonly addresses: readonly string[];
  /** The tunnel of its node; undefined before it runs. */
  readonly host: { readonly ip: string; readonly port: number } | undefined;
  readonly serviceIps: readonly { readonly policy: EdgePolicy; readonly address: string }[];
}

export interface TableAnswer {
  /** Empty where nobody has what was asked for. */
  readonly jobName: string;
  /** The name or the address that was asked for. */
  readonly queryKey: string;
  readonly instances: readonly ClusterInstance[];
}

const MAX_BYTES = 1 << 20;
const MAX_INSTANCES = 4096;
const MAX_SERVICE_IPS = 16;
const MAX_KEY = 256;
const MAX_INSTANCE = 2_147_483_647;

const POLICIES = {
  RR: "round-robin",
  Closest: "closest",
  InstanceNumber: "instance",
  // What managers of clusters send for it.
  instance_ip: "instance",
} as const;

/** Of an instance that does not run yet. */
const NOWHERE: ReadonlySet<string> = new Set(["", "0.0.0.0", "::"]);

const optionalIp = z
  .union([z.literal(""), ipSchema])
  .nullish()
  .transform((ip) => (NOWHERE.has(ip ?? "") ? undefined : (ip ?? undefined)));

/** A number, or one as a text. */
const optionalPort = z
  .union([z.number(), z.string().regex(/^\d{0,5}$/, "the digits of a port")])
  .nullish()
  .transform((port) => Number(port ?? 0))
  .refine((port) => port === 0 || isPort(port), "a port from 1 to 65535, or 0 for none");

const serviceIpSchema = z.object({
  IpType: z.enum(["RR", "Closest", "InstanceNumber", "instance_ip"]),
  Address: optionalIp,
  Address_v6: optionalIp,
});

const instanceSchema = z.object({
  instance_number: z.int().min(0).max(MAX_INSTANCE),
  namespace_ip: optionalIp,
  namespace_ip_v6: optionalIp,
  host_ip: optionalIp,
  host_port: optionalPort,
  service_ip: z.array(serviceIpSchema).max(MAX_SERVICE_IPS).nullish(),
});

const answerSchema = z.object({
  app_name: z
    .string()
    .refine((name) => name === "" || isJobName(name), "APP.NAMESPACE.SERVICE.NAMESPACE, or empty")
    .nullish(),
  query_key: z.string().max(MAX_KEY).nullish(),
  instance_list: z.array(instanceSchema).max(MAX_INSTANCES).nullish(),
});

const subnetSchema = z.object({
  address: z.string().max(MAX_KEY),
  addressv6: z.string().max(MAX_KEY).nullish(),
});

/** What `tablequery/result` has. @throws CoreError ERR_API_PROTOCOL with the field */
export function readTableAnswer(payload: Uint8Array): TableAnswer {
  const { app_name, query_key, instance_list } = read(answerSchema, payload);
  return {
    jobName: app_name ?? "",
    queryKey: query_key ?? "",
    instances: (instance_list ?? []).map(instanceOf),
  };
}

/** What `subnetwork/result` has. @throws CoreError ERR_API_PROTOCOL with the field */
export function readSubnetAnswer(payload: Uint8Array): { address: string; addressv6: string } {
  const { address, addressv6 } = read(subnetSchema, payload);
  return { address, addressv6: addressv6 ?? "" };
}

export const SUBNET_REQUEST = { METHOD: "GET" } as const;

/** Asks by the name of a job, or by an address of a service. */
export function tableQuery(kind: "name" | "address", key: string): object {
  return { sname: kind === "name" ? key : "", sip: kind === "address" ? key : "" };
}

/** An instance that runs on this node, and where that is. */
export interface OwnInstance {
  readonly jobName: string;
  readonly number: number;
  readonly nsip: string;
  readonly nsipv6: string;
  readonly hostIp: string;
  readonly hostPort: number;
}

export function deployedMessage(instance: OwnInstance): object {
  const { nsip, nsipv6, ...rest } = instance;
  return {
    ...{ appname: rest.jobName, status: "DEPLOYED", instance_number: rest.number },
    ...{ nsip, nsipv6, host_ip: rest.hostIp, host_port: String(rest.hostPort) },
  };
}

/** With the whole name of the job: by less than that no manager finds it. */
export function addressChangedMessage(instance: OwnInstance): object {
  const { jobName, number, hostIp, hostPort } = instance;
  const where = { host_ip: hostIp, host_port: String(hostPort) };
  return { appname: jobName, instance_number: number, ...where };
}

export function undeployedMessage({ jobName, number }: OwnInstance): object {
  return { appname: jobName, status: "UNDEPLOYED", instance_number: number };
}

function instanceOf(raw: z.infer<typeof instanceSchema>): ClusterInstance {
  const { host_ip: ip, host_port: port } = raw;
  return {
    number: raw.instance_number,
    addresses: [raw.namespace_ip, raw.namespace_ip_v6].flatMap((each) => each ?? []),
    host: ip === undefined || port === 0 ? undefined : { ip, port },
    serviceIps: (raw.service_ip ?? []).flatMap(({ IpType, Address, Address_v6 }) =>
      [Address, Address_v6].flatMap((address) =>
        address === undefined ? [] : [{ policy: POLICIES[IpType], address }],
      ),
    ),
  };
}

function read<T>(schema: z.ZodType<T>, payload: Uint8Array): T {
  if (payload.byteLength > MAX_BYTES) {
    const message = `the message has ${payload.byteLength} bytes; expected at most ${MAX_BYTES}`;
    throw new CoreError("ERR_API_PROTOCOL", message);
  }
  const checked = checkAgainst(schema, parseJson(payload));
  if (checked.ok) return checked.value;
  throw problemsError("ERR_API_PROTOCOL", checked.problems);
}

function parseJson(payload: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(payload));
  } catch (cause) {
    const message = "the message is no JSON; expected an object";
    throw new CoreError("ERR_API_PROTOCOL", message, { cause });
  }
}
