import type {
  InstanceStatus,
  ListenerStatus,
  ServerStatus,
} from "../../daemon/instance-socket/status-protocol.ts";

const NO_TRAFFIC = {
  connections: 0,
  totalConnections: 0,
  bytesIn: 0,
  bytesOut: 0,
  failures: 0,
};

export function listenerStatus(name: string, change: Partial<ListenerStatus> = {}): ListenerStatus {
  return {
    key: `default/${name}`,
    owner: "control",
    mode: "http",
    address: "127.0.0.1:8080",
    service: "default/web",
    ...NO_TRAFFIC,
    ...change,
  };
}

export function serverStatus(name: string, change: Partial<ServerStatus> = {}): ServerStatus {
  return {
    key: `default/web/${name}`,
    name,
    owner: "control",
    address: "127.0.0.1:9001",
    weight: 10,
    health: "up",
    reason: "",
    meanLatencyMs: null,
    ...NO_TRAFFIC,
    ...change,
  };
}

/** An instance that is well and has nothing to do. */
export function instanceStatus(change: Partial<InstanceStatus> = {}): InstanceStatus {
  return {
    version: "1.2.3",
    pid: 4711,
    node: "here",
    ready: true,
    reasons: [],
    components: [{ kind: "sync", name: "all", health: "ok", message: "", notHonoured: [] }],
    loopGroups: [],
    uptimeSeconds: 192,
    revision: 12,
    process: { cpuSeconds: 1.25, memoryBytes: 80_000_000 },
    listeners: [],
    groups: [],
    groupsLeftOut: 0,
    controllers: [],
    journal: null,
    ...change,
  };
}
