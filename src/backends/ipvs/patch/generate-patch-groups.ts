import { deepEqual } from "../../../core/model/equal.ts";
import type {
  DesiredState,
  EndpointInfo,
  ServiceInfo,
  ServiceWithEndpoints,
} from "../plan/service-info.ts";
import { EndpointPatch, EndpointPatches, PatchGroup, ServicePatch } from "./patch.ts";

type Endpoints = ReadonlyMap<string, EndpointInfo>;

/**
 * The groups that lead from state A to state B; none where they are the same. What only one of them
 * holds is created or deleted; where a service changes, its endpoints are told again, since they stand
 * behind each address of it.
 */
export function generatePatchGroups(a: DesiredState, b: DesiredState): readonly PatchGroup[] {
  const groups: PatchGroup[] = [];
  for (const [id, before] of a) if (!b.has(id)) groups.push(deletion(before));
  for (const [id, after] of b) {
    const before = a.get(id);
    const group = before === undefined ? creation(after) : change(before, after);
    if (group !== undefined) groups.push(group);
  }
  return groups;
}

function creation({ service, endpoints }: ServiceWithEndpoints): PatchGroup {
  const patches = [...endpoints.values()].map(
    (endpoint) => new EndpointPatch("Create", endpoint, service),
  );
  return new PatchGroup(new ServicePatch("Create", service), new EndpointPatches(patches));
}

function deletion({ service, endpoints }: ServiceWithEndpoints): PatchGroup {
  const patches = [...endpoints.values()].map(
    (endpoint) => new EndpointPatch("Delete", endpoint, service),
  );
  return new PatchGroup(new ServicePatch("Delete", service), new EndpointPatches(patches));
}

function change(before: ServiceWithEndpoints, after: ServiceWithEndpoints): PatchGroup | undefined {
  if (deepEqual(before.service, after.service)) return changeOfEndpoints(before, after);
  // They are taken from the addresses that it had before those change.
  const going = [...before.endpoints.values()].map(
    (endpoint) => new EndpointPatch("Delete", endpoint, before.service),
  );
  return new UpdateGroup(
    new ServicePatch("Update", after.service, before.service),
    new EndpointPatches(going),
    creation(after).endpoints,
  );
}

/** One whose service changes: its endpoints leave the old addresses and come to the new ones. */
class UpdateGroup extends PatchGroup {
  readonly #going: EndpointPatches;

  constructor(service: ServicePatch, going: EndpointPatches, coming: EndpointPatches) {
    super(service, coming);
    this.#going = going;
  }

  override apply(handlers: Parameters<PatchGroup["apply"]>[0]): void {
    this.#going.apply(handlers[this.service.service.type].endpoint);
    super.apply(handlers);
  }
}

function changeOfEndpoints(
  { service, endpoints: before }: ServiceWithEndpoints,
  { endpoints: after }: ServiceWithEndpoints,
): PatchGroup | undefined {
  const patches = [...goneFrom(before, after, service), ...changedIn(before, after, service)];
  if (patches.length === 0) return undefined;
  return new PatchGroup(new ServicePatch("NoOp", service), new EndpointPatches(patches));
}

function goneFrom(before: Endpoints, after: Endpoints, service: ServiceInfo): EndpointPatch[] {
  return [...before]
    .filter(([id]) => !after.has(id))
    .map(([, endpoint]) => new EndpointPatch("Delete", endpoint, service));
}

function changedIn(before: Endpoints, after: Endpoints, service: ServiceInfo): EndpointPatch[] {
  const patches: EndpointPatch[] = [];
  for (const [id, endpoint] of after) {
    const old = before.get(id);
    if (old === undefined) patches.push(new EndpointPatch("Create", endpoint, service));
    else if (!deepEqual(old, endpoint)) {
      patches.push(new EndpointPatch("Update", endpoint, service, old));
    }
  }
  return patches;
}
