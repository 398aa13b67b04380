import type { Certificate } from "../model/certificate.ts";
import type { Endpoint } from "../model/endpoint.ts";
import type { Group } from "../model/group.ts";
import type { Listener } from "../model/listener.ts";
import type { Node } from "../model/node.ts";
import type { SecurityGroup } from "../model/security-group.ts";
import type { GroupRef, Service } from "../model/service.ts";

/** A group with its endpoints, in ascending order of their keys; immutable. */
export interface GroupState {
  readonly key: string;
  /** Undefined where the group is implicit. */
  readonly group: Group | undefined;
  readonly endpoints: readonly Endpoint[];
  /** The keys of the endpoints, in the same order. */
  readonly endpointKeys: readonly string[];
}

export interface ServiceGroup {
  readonly ref: GroupRef;
  readonly state: GroupState;
}

/** A service with all that its traffic depends on; immutable, so an old one can be kept cheaply. */
export interface ServiceState {
  readonly key: string;
  readonly service: Service;
  /** Whether a listener leads to it, on any node. */
  readonly listened: boolean;
  readonly groups: readonly ServiceGroup[];
}

/** Read access to the whole state at one revision. Not a copy: read it before the next transaction. */
export interface GlobalState {
  readonly revision: number;
  readonly services: ReadonlyMap<string, ServiceState>;
  readonly listeners: ReadonlyMap<string, Listener>;
  readonly groups: ReadonlyMap<string, GroupState>;
  readonly nodes: ReadonlyMap<string, Node>;
  readonly securityGroups: ReadonlyMap<string, SecurityGroup>;
  readonly certificates: ReadonlyMap<string, Certificate>;
}
