import * as z from "zod";
import { CoreError } from "../../core/errors.ts";
import { type Cidr, cidrContains, familyOf, parseCidr } from "../../core/model/address.ts";
import { ipSchema, portSchema } from "../../core/model/common.ts";
import { invalid, type PathPart, problemsError } from "../../core/model/problems.ts";
import { checkAgainst } from "../../core/model/zod-problems.ts";
import {
  deriveV6,
  type NodeSubnets,
  parseSubnet,
  reservedAddressesOf,
} from "../addresses/subnet.ts";
import { parsePortMappings } from "../environment/port-mappings.ts";
import {
  type Deployment,
  SERVICE_IP_TYPES,
  type ServiceIp,
  workloadName,
} from "../environment/workload.ts";

const MAX_PID = 4_194_304;
const MAX_INSTANCE = 2_147_483_647;
const MAX_SERVICE_IPS = 16;
const MAX_NEEDS = 256;
const MAX_TEXT = 4096;

const nameSchema = z
  .string()
  .regex(
    /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,198}[A-Za-z0-9])?$/,
    "a name of 1 to 200 letters, digits, dots, - and _",
  );

/** Programs that have no value for a field may send an empty one. */
const optionalIp = z.union([z.literal(""), ipSchema]).nullish();
const optionalPort = z.union([z.literal(0), portSchema]).nullish();

const serviceIpSchema = z.strictObject({
  IpType: z.enum(SERVICE_IP_TYPES),
  Address: ipSchema,
  Address_v6: optionalIp,
});

const shared = {
  instanceNumber: z.int().min(0).max(MAX_INSTANCE),
  nodeIp: optionalIp,
  nodePort: optionalPort,
  serviceIp: z.array(serviceIpSchema).max(MAX_SERVICE_IPS).nullish(),
  portMappings: z.string().max(MAX_TEXT).nullish(),
  needs: z.array(nameSchema).max(MAX_NEEDS).nullish(),
};

const containerIdSchema = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9._:-]{0,255}$/,
    "a pid, netns:NAME, or the name or id of a container",
  );

const dockerSchema = z.strictObject({
  containerId: containerIdSchema,
  appName: nameSchema,
  ...shared,
});

const containerSchema = z.strictObject({
  pid: z.int().min(1).max(MAX_PID),
  serviceName: nameSchema,
  ...shared,
});

const registerSchema = z.strictObject({
  subnetwork: z.string().max(MAX_TEXT),
  subnetworkv6: z.string().max(MAX_TEXT).nullish(),
  // Of engines that name themselves; nothing here depends on it.
  client_id: z.string().max(MAX_TEXT).nullish(),
  cluster_address: z.string().max(MAX_TEXT).nullish(),
});

const undeploySchema = z.strictObject({
  serviceName: z.string().min(1).max(MAX_TEXT),
  instanceNumber: z.int().min(0).max(MAX_INSTANCE).nullish(),
});

/** @throws CoreError ERR_USAGE with all that is wrong */
function check<T>(schema: z.ZodType<T>, body: unknown): T {
  const checked = checkAgainst(schema, body);
  if (checked.ok) return checked.value;
  throw problemsError("ERR_USAGE", checked.problems);
}

function refuse(path: readonly PathPart[], value: unknown, expected: string): CoreError {
  return problemsError("ERR_USAGE", [invalid(path, value, expected)]);
}

/**
 * The body of `/register`.
 * @param before what the node has: who names its IPv4 network again means the other one, too
 * @throws CoreError ERR_USAGE with the field
 */
export function readRegister(body: unknown, before?: NodeSubnets): NodeSubnets {
  const { subnetwork, subnetworkv6 } = check(registerSchema, body);
  const v4 = subnetOf("subnetwork", subnetwork, "v4");
  const given = subnetworkv6 ?? "";
  if (given !== "") return { v4, v6: subnetOf("subnetworkv6", given, "v6") };
  return { v4, v6: before?.v4.text === v4.text ? before.v6 : deriveV6(v4) };
}

function subnetOf(field: string, text: string, family: Cidr["family"]): Cidr {
  const subnet = parseSubnet(text);
  if (subnet?.family === family) return subnet;
  const example = family === "v4" ? "10.18.0.64 or 10.18.0.64/26" : "fc00::100 or fc00::100/120";
  throw refuse([field], text, `the address of an IP${family} network, such as ${example}`);
}

/** What a deployment may name of this node. */
export interface DeployLimits {
  readonly serviceRanges: readonly Cidr[];
  /** Of UDP: no workload can have it. */
  readonly tunnelPort: number;
}

/** The body of `/docker/deploy`. @throws CoreError ERR_USAGE with the field */
export function readDockerDeploy(body: unknown, limits: DeployLimits): Deployment {
  const { containerId, appName, ...rest } = check(dockerSchema, body);
  return deploymentOf({ containerId, appName }, rest, limits);
}

/** The body of `/container/deploy`. @throws CoreError ERR_USAGE with the field */
export function readContainerDeploy(body: unknown, limits: DeployLimits): Deployment {
  const { pid, serviceName, ...rest } = check(containerSchema, body);
  return deploymentOf({ containerId: String(pid), appName: serviceName }, rest, limits);
}

/** What is wrong with a deployment, with the fields as `/container/deploy` calls them. */
export function asContainerFields(error: unknown): unknown {
  if (!(error instanceof CoreError) || error.problems.length === 0) return error;
  const problems = error.problems.map((problem) => {
    const [field = "", ...rest] = problem.path;
    return { ...problem, path: [field === "containerId" ? "pid" : field, ...rest] };
  });
  return problemsError(error.code, problems, { cause: error });
}

type Shared = z.infer<z.ZodObject<typeof shared>>;

function deploymentOf(
  identity: Pick<Deployment, "containerId" | "appName">,
  { instanceNumber, nodeIp, nodePort, serviceIp, portMappings, needs }: Shared,
  { serviceRanges, tunnelPort }: DeployLimits,
): Deployment {
  const read = parsePortMappings(portMappings ?? "");
  if (!read.ok) throw refuse(["portMappings"], portMappings, read.expected);
  if (read.mappings.some((one) => one.protocol === "udp" && one.hostPort === tunnelPort)) {
    throw refuse(
      ["portMappings"],
      portMappings,
      `other ports than ${tunnelPort}/udp, the tunnel's`,
    );
  }
  return {
    ...identity,
    instanceNumber,
    nodeIp: nodeIp || undefined,
    nodePort: nodePort || undefined,
    serviceIps: (serviceIp ?? []).flatMap((entry, index) =>
      serviceIpsOf(entry, index, serviceRanges),
    ),
    portMappings: read.mappings,
    needs: [...new Set(needs)],
  };
}

function serviceIpsOf(
  { IpType: type, Address, Address_v6 }: z.infer<typeof serviceIpSchema>,
  index: number,
  ranges: readonly Cidr[],
): readonly ServiceIp[] {
  const given = [
    ["Address", Address],
    ["Address_v6", Address_v6 ?? ""],
  ] as const;
  return given.flatMap(([field, address]) => {
    if (address === "") return [];
    const path = ["serviceIp", index, field];
    if (field === "Address_v6" && familyOf(address) !== "v6") {
      throw refuse(path, address, "an IPv6 address");
    }
    if (!ranges.some((range) => cidrContains(range, address))) {
      const expected = `an address of the service range (${ranges.map(({ text }) => text).join(", ")})`;
      throw refuse(path, address, expected);
    }
    if (reservedAddressesOf(ranges).includes(address)) {
      throw refuse(path, address, "another address: this one stands for local clients");
    }
    return [{ type, address }];
  });
}

/** The body of `undeploy`: the names that it can mean, the first that is known counts. */
export function readUndeploy(body: unknown): readonly string[] {
  const { serviceName, instanceNumber } = check(undeploySchema, body);
  if (instanceNumber === undefined || instanceNumber === null) return [serviceName];
  return [workloadName(serviceName, instanceNumber), serviceName];
}

/** @throws CoreError ERR_USAGE with the place in the list */
export function readRanges(texts: readonly string[], option: string): readonly Cidr[] {
  return texts.map((text) => {
    const range = parseCidr(text);
    if (range !== undefined && range.prefix > 0) return range;
    throw refuse([option], text, "a network such as 10.30.0.0/16 or fdff::/16");
  });
}
