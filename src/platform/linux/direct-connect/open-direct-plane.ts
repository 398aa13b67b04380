import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import { messageOf } from "../../../core/errors.ts";
import type { Family } from "../../../core/model/address.ts";
import { createLink, type LinkPlace } from "../bpf/bpf-link.ts";
import { ATTACH_TYPE, PROGRAM_TYPE } from "../bpf/bpf-numbers.ts";
import { cgroupOfLink } from "../bpf/bpf-objects.ts";
import { loadProgram } from "../bpf/bpf-program.ts";
import { findCgroupMount } from "../cgroup-mount.ts";
import { namespaceCookie } from "../namespace-cookie.ts";
import {
  type Callers,
  connectProgram,
  type DirectMapDescriptors,
  peerNameProgram,
} from "./connect-program.ts";
import { createDirectMaps, type DirectMaps } from "./direct-maps.ts";
import type { DirectCgroups, DirectPlane } from "./direct-plane.ts";

/** What keeps connections from being direct here, and what to do about it. */
export interface DirectObstacle {
  readonly what: string;
  readonly remedy: string;
}

export type OpenedDirectPlane =
  | { readonly kind: "open"; readonly plane: DirectPlane }
  | ({ readonly kind: "obstacle" } & DirectObstacle);

interface Hook {
  readonly name: string;
  readonly attachType: number;
  readonly assemble: (maps: DirectMapDescriptors) => Uint8Array;
}

/** Processes that are led. */
interface Scope {
  readonly callers: Callers;
  readonly path: string;
}

/** Whoever is sent elsewhere is told the address that it asked for: so the names come first. */
const HOOKS: Readonly<Record<Callers, readonly Hook[]>> = {
  node: [
    peerHook("portolan_peer4", ATTACH_TYPE.getpeername4, "v4"),
    peerHook("portolan_peer6", ATTACH_TYPE.getpeername6, "v6"),
    connectHook("portolan_conn4", ATTACH_TYPE.connect4, "v4", "node"),
    connectHook("portolan_conn6", ATTACH_TYPE.connect6, "v6", "node"),
  ],
  workloads: [
    peerHook("portolan_wpeer4", ATTACH_TYPE.getpeername4, "v4"),
    peerHook("portolan_wpeer6", ATTACH_TYPE.getpeername6, "v6"),
    connectHook("portolan_wconn4", ATTACH_TYPE.connect4, "v4", "workloads"),
    connectHook("portolan_wconn6", ATTACH_TYPE.connect6, "v6", "workloads"),
  ],
};

/** Puts the programs in, with nothing to exchange yet. */
export async function openDirectPlane(cgroups: DirectCgroups): Promise<OpenedDirectPlane> {
  return attempt(cgroups, (maps, places, begin) => {
    const links: number[] = [];
    try {
      for (const place of places) {
        begin(place);
        links.push(createLink(place));
      }
    } catch (error) {
      for (const link of links) closeSync(link);
      throw error;
    }
    return holding(maps, links);
  });
}

/** The same without putting anything in: undefined where it would work. */
export async function probeDirectPlane(
  cgroups: DirectCgroups,
): Promise<DirectObstacle | undefined> {
  const outcome = await attempt(cgroups, (maps) => holding(maps, []));
  if (outcome.kind === "obstacle") return outcome;
  outcome.plane.close();
  return undefined;
}

/** Once the links are closed, nobody meets the programs. */
function holding(maps: DirectMaps, links: readonly number[]): DirectPlane {
  let held = links;
  return {
    ...maps.entries,
    isAttached: () => held.every((link) => cgroupOfLink(link) !== undefined),
    close: () => {
      for (const link of held) closeSync(link);
      held = [];
      maps.close();
    },
  };
}

/** A program, and where it belongs. */
interface Place extends LinkPlace {
  readonly scope: Scope;
}

/** @param begin is told of a place before something is done there */
type Use = (
  maps: DirectMaps,
  places: readonly Place[],
  begin: (place: Place) => void,
) => DirectPlane;

async function attempt(cgroups: DirectCgroups, use: Use): Promise<OpenedDirectPlane> {
  const opened: number[] = [];
  const keep = (descriptor: number): number => {
    opened.push(descriptor);
    return descriptor;
  };
  let maps: DirectMaps | undefined;
  let remedy = NEWER_LINUX;
  let about = "";
  try {
    // Before anything is waited for: a thread may be in another namespace then.
    const cookie = namespaceCookie();
    const scopes = await scopesOf(cgroups);
    if (scopes === undefined) return NO_CGROUPS;
    const targets: { readonly scope: Scope; readonly target: number }[] = [];
    for (const scope of scopes) {
      const { callers, path } = scope;
      remedy = CGROUP_REMEDIES[callers];
      // Those of version 1 have no such file.
      closeSync(openSync(join(path, "cgroup.controllers"), "r"));
      targets.push({ scope, target: keep(openSync(path, "r")) });
    }
    remedy = PERMISSION;
    maps = createDirectMaps(cookie);
    const { descriptors } = maps;
    const places = targets.flatMap(({ scope, target }) =>
      HOOKS[scope.callers].map(({ name, attachType, assemble }) => {
        const instructions = assemble(descriptors);
        const type = PROGRAM_TYPE.cgroupSockAddr;
        const program = keep(loadProgram({ name, type, attachType, instructions }));
        return { program, target, attachType, scope };
      }),
    );
    const plane = use(maps, places, ({ scope: { callers, path } }) => {
      remedy = CGROUP_REMEDIES[callers];
      about = `${path}: `;
    });
    return { kind: "open", plane };
  } catch (error) {
    maps?.close();
    return { kind: "obstacle", what: about + messageOf(error), remedy };
  } finally {
    for (const descriptor of opened) closeSync(descriptor);
  }
}

/** Undefined where there are no cgroups. */
async function scopesOf(cgroups: DirectCgroups): Promise<readonly Scope[] | undefined> {
  const node = cgroups.node ?? (await findCgroupMount());
  if (node === undefined) return undefined;
  const scopes: Scope[] = [{ callers: "node", path: node }];
  if (cgroups.workloads !== undefined) {
    scopes.push({ callers: "workloads", path: cgroups.workloads });
  }
  return scopes;
}

const NO_CGROUPS: OpenedDirectPlane = {
  kind: "obstacle",
  what: "no cgroups of version 2 are mounted here",
  remedy: "mount -t cgroup2 none /sys/fs/cgroup, or name a folder of them: --direct-connect-cgroup",
};

const CGROUP_REMEDIES: Readonly<Record<Callers, string>> = {
  node: "name a folder of the cgroups of version 2: --direct-connect-cgroup",
  workloads: "name a folder of the cgroups of version 2: --direct-connect-workloads",
};
const NEWER_LINUX = "boot Linux 5.14 or newer";
const PERMISSION =
  "run it as root, or give it CAP_BPF and CAP_NET_ADMIN, on Linux 5.14 or newer built with CONFIG_CGROUP_BPF";

function peerHook(name: string, attachType: number, family: Family): Hook {
  return { name, attachType, assemble: (maps) => peerNameProgram(family, maps) };
}

function connectHook(name: string, attachType: number, family: Family, callers: Callers): Hook {
  return { name, attachType, assemble: (maps) => connectProgram(family, maps, callers) };
}
