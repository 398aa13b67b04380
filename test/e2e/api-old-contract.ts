import * as grpc from "@grpc/grpc-js";
import protobuf from "protobufjs";

/**
 * The API as KPNG programs know it, written down from what is known of them and not from our own
 * files: these tests are about what such programs can take.
 */
const CONTRACT = `
syntax = "proto3";
message WatchReq { string NodeName = 1; }
message GlobalWatchReq {}
message OpItem { oneof Op { EmptyOp Sync = 1; Value Set = 2; Ref Delete = 3; EmptyOp Reset = 4; } }
message EmptyOp {}
message Ref { int32 Set = 1; string Path = 2; }
message Value { Ref Ref = 1; bytes Bytes = 2; }
message Service {
  string Namespace = 1; string Name = 2; string Type = 3; ServiceIPs IPs = 4; bool MapIP = 5;
  repeated PortMapping Ports = 6; bool ExternalTrafficToLocal = 7; map<string, string> Labels = 8;
  map<string, string> Annotations = 9; repeated IPFilter IPFilters = 10; ClientIPAffinity ClientIP = 11;
  bool InternalTrafficToLocal = 12; int32 HealthCheckNodePort = 13;
}
message IPFilter { IPSet TargetIPs = 1; repeated string SourceRanges = 2; }
message ServiceIPs { IPSet ClusterIPs = 1; IPSet ExternalIPs = 2; bool Headless = 3; IPSet LoadBalancerIPs = 4; }
message Endpoint {
  string Hostname = 1; IPSet IPs = 2; bool Local = 3; repeated PortName PortOverrides = 4; EndpointScopes Scopes = 5;
}
message EndpointScopes { bool Internal = 1; bool External = 2; }
message IPSet { repeated string V4 = 1; repeated string V6 = 2; }
message PortName { string Name = 1; int32 Port = 2; }
message PortMapping {
  string Name = 1; int32 Protocol = 2; int32 Port = 3; int32 NodePort = 4; int32 TargetPort = 5; string TargetPortName = 6;
}
message ClientIPAffinity { int32 TimeoutSeconds = 1; }
message ServiceInfo { uint64 Hash = 1; Service Service = 2; }
message EndpointInfo {
  uint64 Hash = 1; string Namespace = 2; string SourceName = 3; string ServiceName = 4; Endpoint Endpoint = 6;
  EndpointConditions Conditions = 7; string PodName = 8; TopologyInfo Topology = 9; TopologyHints Hints = 10;
}
message EndpointConditions { bool Ready = 1; }
message TopologyInfo { string Node = 1; string Zone = 2; }
message TopologyHints { repeated string Zones = 1; }
message NodeInfo { uint64 Hash = 1; Node Node = 2; }
message Node { string Name = 1; map<string, string> Labels = 2; map<string, string> Annotations = 3; TopologyInfo Topology = 4; }
`;

const { root } = protobuf.parse(CONTRACT, { keepCase: true });

export type Plain = Readonly<Record<string, unknown>>;

function encodeOld(type: string, plain: Plain): Buffer {
  const message = root.lookupType(type);
  return Buffer.from(message.encode(message.fromObject(plain)).finish());
}

function decodeOld(type: string, bytes: Uint8Array): Record<string, unknown> {
  const message = root.lookupType(type);
  return message.toObject(message.decode(bytes), { defaults: true, longs: String });
}

export const OLD_SETS = {
  services: 1,
  endpoints: 2,
  serviceInfos: 10,
  endpointInfos: 11,
  nodeInfos: 12,
};

/** Which message each set holds. */
const VALUE_TYPES: Readonly<Record<number, string>> = {
  1: "Service",
  2: "Endpoint",
  10: "ServiceInfo",
  11: "EndpointInfo",
  12: "NodeInfo",
};

/** An operation as an old program sees it. */
export type OldOp =
  | { readonly op: "sync" }
  | { readonly op: "reset" }
  | { readonly op: "set"; readonly set: number; readonly path: string; readonly value: Plain }
  | { readonly op: "delete"; readonly set: number; readonly path: string };

function readOp(bytes: Buffer): OldOp {
  const item: Plain = root.lookupType("OpItem").toObject(root.lookupType("OpItem").decode(bytes), {
    oneofs: true,
  });
  const { Op: name, Set: set, Delete: ref } = item;
  if (name === "Sync") return { op: "sync" };
  if (name === "Reset") return { op: "reset" };
  if (name === "Delete" && isPlain(ref)) return { op: "delete", ...refOf(ref) };
  if (name !== "Set" || !isPlain(set)) throw new Error(`an operation of no known kind: ${name}`);
  const { Ref: place, Bytes: value } = set;
  if (!isPlain(place) || !(value instanceof Uint8Array)) throw new Error("a set without a value");
  const at = refOf(place);
  return { op: "set", ...at, value: decodeOld(VALUE_TYPES[at.set] ?? "", value) };
}

function refOf(ref: Plain): { set: number; path: string } {
  const set = Number(ref["Set"]);
  if (VALUE_TYPES[set] === undefined) throw new Error(`set ${set} is not known to old programs`);
  return { set, path: String(ref["Path"]) };
}

function isPlain(value: unknown): value is Plain {
  return typeof value === "object" && value !== null;
}

export interface OldClient {
  /** Asks for a change and gives its operations up to the sync. */
  change(request?: Plain): Promise<OldOp[]>;
  /** The status at the end of the call. */
  readonly status: Promise<grpc.StatusObject>;
  /** Sends bytes that are no request. */
  sendRaw(bytes: Buffer): void;
  close(): void;
}

/** A client of the old contract, on the gRPC library of others. */
export function openOldClient(
  address: string,
  method: "/localv1.Sets/Watch" | "/globalv1.Sets/Watch" | string,
  credentials: grpc.ChannelCredentials = grpc.credentials.createInsecure(),
): OldClient {
  const client = new grpc.Client(address, credentials);
  const type = method.startsWith("/global") ? "GlobalWatchReq" : "WatchReq";
  const call = client.makeBidiStreamRequest<Buffer, OldOp>(method, (bytes) => bytes, readOp);
  let onOp: (op: OldOp) => void = () => undefined;
  let onError: (error: Error) => void = () => undefined;
  call.on("data", (op: OldOp) => onOp(op));
  call.on("error", (error) => onError(error));
  return {
    status: new Promise((resolve) => call.on("status", resolve)),
    change: (request = {}) =>
      new Promise((resolve, reject) => {
        const ops: OldOp[] = [];
        onError = reject;
        onOp = (op) => {
          ops.push(op);
          if (op.op === "sync") resolve(ops);
        };
        call.write(encodeOld(type, request));
      }),
    sendRaw: (bytes) => call.write(bytes),
    close: () => {
      call.cancel();
      client.close();
    },
  };
}

/** How an old server answers the requests of one call, one after the other. */
export type OldAnswer =
  | { readonly ops: readonly OldOp[] }
  /** Sends these and dies with all its connections; it comes back at once on the same port. */
  | { readonly dieAfter: readonly OldOp[] };

export interface OldServer {
  readonly port: number;
  /** Requests as they came, over all calls. */
  readonly requests: Plain[];
  close(): void;
}

/** A KPNG server that gives each call the answers that `answersOf` has for it. */
export async function startOldServer(
  service: "localv1.Sets" | "globalv1.Sets",
  answersOf: (call: number) => readonly OldAnswer[],
): Promise<OldServer> {
  const requests: Plain[] = [];
  const type = service === "globalv1.Sets" ? "GlobalWatchReq" : "WatchReq";
  let calls = 0;
  let server = new grpc.Server();
  const watch: grpc.handleBidiStreamingCall<Plain, OldOp> = (call) => {
    const answers = [...answersOf(calls++)];
    call.on("error", () => undefined);
    call.on("data", (request: Plain) => {
      requests.push(request);
      const answer = answers.shift();
      if (answer === undefined) return;
      if ("ops" in answer) for (const op of answer.ops) call.write(op);
      else void dieAfter(answer.dieAfter, call);
    });
  };
  const dieAfter = async (
    ops: readonly OldOp[],
    call: grpc.ServerDuplexStream<Plain, OldOp>,
  ): Promise<void> => {
    for (const op of ops) await new Promise((resolve) => call.write(op, resolve));
    server.forceShutdown();
    server = new grpc.Server();
    await listen(port);
  };
  const listen = (on: number): Promise<number> => {
    server.addService({ Watch: definition(service, type) }, { Watch: watch });
    return new Promise((resolve, reject) => {
      const insecure = grpc.ServerCredentials.createInsecure();
      server.bindAsync(`127.0.0.1:${on}`, insecure, (error, bound) =>
        error === null ? resolve(bound) : reject(error),
      );
    });
  };
  const port = await listen(0);
  return { port, requests, close: () => server.forceShutdown() };
}

function definition(service: string, type: string): grpc.MethodDefinition<Plain, OldOp> {
  return {
    path: `/${service}/Watch`,
    requestStream: true,
    responseStream: true,
    requestSerialize: (request) => encodeOld(type, request),
    requestDeserialize: (bytes) => decodeOld(type, bytes),
    responseSerialize: writeOp,
    responseDeserialize: readOp,
  };
}

function writeOp(op: OldOp): Buffer {
  switch (op.op) {
    case "sync":
      return encodeOld("OpItem", { Sync: {} });
    case "reset":
      return encodeOld("OpItem", { Reset: {} });
    case "delete":
      return encodeOld("OpItem", { Delete: { Set: op.set, Path: op.path } });
    case "set":
      return encodeOld("OpItem", {
        Set: {
          Ref: { Set: op.set, Path: op.path },
          Bytes: encodeOld(VALUE_TYPES[op.set] ?? "", op.value),
        },
      });
  }
}

export const SYNC_OP: OldOp = { op: "sync" };
export const RESET_OP: OldOp = { op: "reset" };
export const setOp = (set: number, path: string, value: Plain): OldOp => ({
  op: "set",
  set,
  path,
  value,
});
export const deleteOp = (set: number, path: string): OldOp => ({ op: "delete", set, path });
