import { canonicalIp, formatHostPort, isWildcard, unmappedIp } from "../../core/model/address.ts";
import { invalid, type Problem } from "../../core/model/problems.ts";
import type { ParamInput } from "../command.ts";
import type { ParamReader } from "../grammar/read-params.ts";
import type { ParamSpec } from "../resource-spec.ts";
import type { DelegateEntry, GroupDelegateEntry, NodeDelegateEntry } from "../world.ts";
import { keyOfName, nameOfKey, nameProblem } from "./names.ts";

const AN_HOUR_MS = 3_600_000;
const STANDARD = {
  weight: 10,
  timeoutMs: 1000,
  periodMs: 10_000,
  thresholds: 1,
  family: "v4",
} as const;

const SERVICE: ParamSpec = {
  kind: "reference",
  to: "service",
  name: "service",
  field: "service",
  required: true,
  help: "The service, by the name that all agree on; it need not be there as an object",
};

const ZONE: ParamSpec = {
  kind: "text",
  name: "zone",
  field: "zone",
  placeholder: "ZONE",
  help: "Zone of the instances; that of their node where they say none",
  standard: "any",
};

const SERVICE_PORT: ParamSpec = {
  kind: "text",
  name: "service-port",
  field: "servicePort",
  placeholder: "NAME",
  help: "Name of the service's port, where the service has several",
  standard: "the only one",
};

export const GROUP_DELEGATE_PARAMS: readonly ParamSpec[] = [
  SERVICE,
  ZONE,
  {
    kind: "reference",
    to: "server-group",
    name: "server-group",
    field: "serverGroup",
    required: true,
    help: "The server group that the instances become servers of",
  },
  SERVICE_PORT,
];

export const NODE_DELEGATE_PARAMS: readonly ParamSpec[] = [
  SERVICE,
  { ...ZONE, help: "Zone that the instance is in", standard: "none" },
  {
    kind: "text",
    name: "address",
    field: "address",
    placeholder: "IP",
    help: "Address that others call; or nic",
    standard: "that of nic",
  },
  {
    kind: "text",
    name: "nic",
    field: "nic",
    placeholder: "INTERFACE",
    help: "Network interface whose address others call, followed when it changes; or address",
    standard: "none",
  },
  {
    kind: "enum",
    name: "ip-type",
    field: "ipType",
    values: ["v4", "v6"],
    help: "Which address of nic is taken",
    standard: STANDARD.family,
  },
  {
    kind: "integer",
    name: "port",
    field: "exposedPort",
    min: 1,
    max: 65_535,
    required: true,
    help: "Port that others call",
  },
  {
    kind: "integer",
    name: "weight",
    field: "weight",
    min: 0,
    max: 65_535,
    help: "Share of the connections among the instances; with 0 it gets no new ones",
    standard: String(STANDARD.weight),
  },
  { ...SERVICE_PORT, standard: "none" },
  {
    kind: "address",
    name: "check-address",
    field: "checkAddress",
    help: "What is checked, by a TCP connection: the program behind a sidecar",
    standard: "what is announced",
  },
  {
    kind: "integer",
    name: "timeout",
    field: "timeout",
    min: 1,
    max: AN_HOUR_MS,
    help: "Milliseconds after which a check has failed",
    standard: String(STANDARD.timeoutMs),
  },
  {
    kind: "integer",
    name: "period",
    field: "period",
    min: 10,
    max: AN_HOUR_MS,
    help: "Milliseconds from one check to the next",
    standard: String(STANDARD.periodMs),
  },
  {
    kind: "integer",
    name: "up",
    field: "up",
    min: 1,
    max: 100,
    help: "Successes in a row after which it is announced",
    standard: String(STANDARD.thresholds),
  },
  {
    kind: "integer",
    name: "down",
    field: "down",
    min: 1,
    max: 100,
    help: "Failures in a row after which it is withdrawn",
    standard: String(STANDARD.thresholds),
  },
];

interface Common {
  readonly name: string;
  readonly service: string;
  readonly servicePort: string;
  readonly zone: string;
}

function commonOf(name: string, params: ParamReader, problems: Problem[]): Common {
  const service = params.text("service") ?? "";
  problems.push(...problemsOf("service", service));
  return {
    name,
    service: keyOfName(service),
    servicePort: params.text("service-port") ?? "",
    zone: params.text("zone") ?? "",
  };
}

function problemsOf(param: string, name: string): readonly Problem[] {
  const problem = nameProblem(name);
  return problem === undefined ? [] : [{ ...problem, path: [param] }];
}

export function readGroupDelegate(
  name: string,
  params: ParamReader,
  problems: Problem[],
): GroupDelegateEntry {
  const group = params.text("server-group") ?? "";
  problems.push(...problemsOf("server-group", group));
  return {
    kind: "smart-group-delegate",
    ...commonOf(name, params, problems),
    serverGroup: keyOfName(group),
  };
}

export function readNodeDelegate(
  name: string,
  params: ParamReader,
  problems: Problem[],
): NodeDelegateEntry {
  const said = params.text("address") ?? "";
  const nic = params.text("nic") ?? "";
  const address = said === "" ? "" : canonicalIp(said);
  if (address === undefined) problems.push(invalid(["address"], said, "an IP address"));
  else if (isWildcard(unmappedIp(address))) {
    // Whoever called it would call itself.
    problems.push(invalid(["address"], said, "one address that others call, or nic"));
  }
  if ((said === "") === (nic === "")) problems.push(ONE_OF_TWO);
  const checked = params.address("check-address");
  return {
    kind: "smart-node-delegate",
    ...commonOf(name, params, problems),
    address: address ?? "",
    nic,
    family: params.oneOf("ip-type", ["v4", "v6"]) ?? STANDARD.family,
    port: params.integer("port") ?? 0,
    weight: params.integer("weight") ?? STANDARD.weight,
    checkAddress: checked?.kind === "tcp" ? formatHostPort(checked.host, checked.port) : "",
    timeoutMs: params.integer("timeout") ?? STANDARD.timeoutMs,
    periodMs: params.integer("period") ?? STANDARD.periodMs,
    up: params.integer("up") ?? STANDARD.thresholds,
    down: params.integer("down") ?? STANDARD.thresholds,
  };
}

const ONE_OF_TWO: Problem = {
  path: ["address"],
  fault: "malformed",
  value: "says what nic says as well, or neither does",
  expected: "an IP address, or the name of a network interface as nic",
};

/** The parameters of the command that makes it again; what is as it is without being said is left out. */
export function paramsOfDelegate(entry: DelegateEntry): ReadonlyMap<string, ParamInput> {
  const all: readonly (readonly [string, string | number, string | number])[] =
    entry.kind === "smart-group-delegate"
      ? [...commonParams(entry), ["server-group", nameOfKey(entry.serverGroup), ""]]
      : [...commonParams(entry), ...nodeParams(entry)];
  return new Map(
    all.flatMap(([name, value, standard]) => (value === standard ? [] : [[name, value]])),
  );
}

type Said = readonly [name: string, value: string | number, standard: string | number];

function commonParams({ service, servicePort, zone }: Common): readonly Said[] {
  return [
    ["service", nameOfKey(service), ""],
    ["service-port", servicePort, ""],
    ["zone", zone, ""],
  ];
}

function nodeParams(entry: NodeDelegateEntry): readonly Said[] {
  return [
    ["address", entry.address, ""],
    ["nic", entry.nic, ""],
    ["ip-type", entry.family, STANDARD.family],
    ["port", entry.port, 0],
    ["weight", entry.weight, STANDARD.weight],
    ["check-address", entry.checkAddress, ""],
    ["timeout", entry.timeoutMs, STANDARD.timeoutMs],
    ["period", entry.periodMs, STANDARD.periodMs],
    ["up", entry.up, STANDARD.thresholds],
    ["down", entry.down, STANDARD.thresholds],
  ];
}
