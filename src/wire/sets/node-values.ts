import { EMPTY } from "../../core/model/common.ts";
import type { EndpointPort } from "../../core/model/endpoint.ts";
import type { NodeEndpoint, NodeEndpointPort, NodeService } from "../../core/view/ops.ts";
import { checkedName, refused } from "./checks.ts";
import type { EndpointMessage } from "./endpoint-reader.ts";
import { endpointOf } from "./endpoint-value.ts";
import { familiesOf, portUseOf } from "./family-mask.ts";
import type { ServiceMessage } from "./service-reader.ts";

/** Names of nodes and zones that are kept to be shared. */
const MAX_SHARED_NAMES = 20_000;

interface GroupKey {
  readonly key: string;
  readonly namespace: string;
  readonly name: string;
}

/**
 * Makes values of what a server with our fields sends. Endpoints of one service come one after the
 * other and look alike: what they have in common is made once, which matters with 100,000 of them.
 */
export class NodeValues {
  readonly #names = new Map<string, string>();
  #service: GroupKey = { key: "", namespace: "", name: "" };
  #source = "";
  #overrides: readonly EndpointPort[] = EMPTY;
  #ports: readonly NodeEndpointPort[] = EMPTY;

  /** The service of a message; `path` must be its key. */
  service(path: string, { service, usable, ending }: ServiceMessage): NodeService {
    const key = `${service.namespace}/${service.name}`;
    if (key !== path) throw refused("Ref.Path", path, `the key of the service, ${key}`);
    const value = { key, service, usable: usable ?? EMPTY };
    return ending.length > 0 ? { ...value, ending } : value;
  }

  /** The endpoint of a message, whose parts may become parts of it; `path` is `namespace/service/name`. */
  endpoint(path: string, message: EndpointMessage): NodeEndpoint {
    const cut = splitPath(path);
    const service = this.#serviceOf(path, cut);
    const group = message.group === "" ? service : parseGroupKey(message.group);
    message.node = this.#sharedName(message.node);
    message.zone = this.#sharedName(message.zone);
    this.#source = message.source === this.#source ? this.#source : message.source;
    message.source = this.#source;
    this.#shareOverrides(message);
    const name = message.name === "" ? path.slice(cut + 1) : message.name;
    return {
      path,
      service: service.key,
      group: group.key,
      endpoint: endpointOf({ namespace: group.namespace, group: group.name, name }, message),
      local: message.local,
      ports: this.#portsOf(message),
    };
  }

  #serviceOf(path: string, cut: number): GroupKey {
    const { key } = this.#service;
    if (key.length !== cut || !path.startsWith(key)) {
      this.#service = parseGroupKey(path.slice(0, cut));
    }
    return this.#service;
  }

  #sharedName(name: string): string {
    const shared = this.#names.get(name);
    if (shared !== undefined) return shared;
    if (this.#names.size >= MAX_SHARED_NAMES) this.#names.clear();
    this.#names.set(name, name);
    return name;
  }

  #shareOverrides(message: EndpointMessage): void {
    if (samePorts(this.#overrides, message.portOverrides)) message.portOverrides = this.#overrides;
    else this.#overrides = message.portOverrides;
  }

  #portsOf({ portOverrides, portUse }: EndpointMessage): readonly NodeEndpointPort[] {
    if (!isSaidBy(this.#ports, portOverrides, portUse)) {
      this.#ports = portOverrides.map((override, index) => ({
        name: override.name,
        target: override.port,
        clusterFor: familiesOf(portUse[index] ?? 0),
        localFor: familiesOf((portUse[index] ?? 0) >> 2),
      }));
    }
    return this.#ports;
  }
}

/** Where the name begins in `namespace/service/name`; an endpoint's name holds no `/`. */
export function splitPath(path: string): number {
  const cut = path.lastIndexOf("/");
  const first = path.indexOf("/");
  if (first > 0 && cut > first + 1 && cut < path.length - 1) return cut;
  throw refused("Ref.Path", path, "NAMESPACE/SERVICE/ENDPOINT");
}

/** Reads the key of a service or a group. */
export function parseGroupKey(key: string): GroupKey {
  const slash = key.indexOf("/");
  return {
    key,
    namespace: checkedName("namespace", key.slice(0, Math.max(0, slash))),
    name: checkedName("name", key.slice(slash + 1)),
  };
}

/** Loops instead of `every` with a function: they run for every endpoint. */
function samePorts(a: readonly EndpointPort[], b: readonly EndpointPort[]): boolean {
  if (a.length !== b.length) return false;
  for (let index = 0; index < a.length; index++) {
    if (a[index]?.name !== b[index]?.name || a[index]?.port !== b[index]?.port) return false;
  }
  return true;
}

function isSaidBy(
  ports: readonly NodeEndpointPort[],
  overrides: readonly EndpointPort[],
  uses: readonly number[],
): boolean {
  if (ports.length !== overrides.length) return false;
  for (let index = 0; index < ports.length; index++) {
    const port = ports[index];
    const said = overrides[index];
    if (port === undefined || port.name !== said?.name || port.target !== said.port) return false;
    if (portUseOf(port.clusterFor, port.localFor) !== (uses[index] ?? 0)) return false;
  }
  return true;
}
