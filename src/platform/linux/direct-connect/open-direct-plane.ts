import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import { messageOf } from "../../../core/errors.ts";
import type { Family } from "../../../core/model/address.ts";
import { createLink } from "../bpf/bpf-link.ts";
import { ATTACH_TYPE, PROGRAM_TYPE } from "../bpf/bpf-numbers.ts";
import { cgroupOfLink } from "../bpf/bpf-objects.ts";
import { loadProgram } from "../bpf/bpf-program.ts";
import { findCgroupMount } from "../cgroup-mount.ts";
import { namespaceCookie } from "../namespace-cookie.ts";
import { connectProgram, type DirectMapDescriptors, peerNameProgram } from "./connect-program.ts";
import { createDirectMaps, type DirectMaps } from "./direct-maps.ts";
import type { DirectPlane } from "./direct-plane.ts";

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
  readonly family: Family;
  readonly assemble: (family: Family, maps: DirectMapDescriptors) => Uint8Array;
}

/** Whoever is sent elsewhere is told the address that it asked for: so the names come first. */
const HOOKS: readonly Hook[] = [
  hook("portolan_peer4", ATTACH_TYPE.getpeername4, "v4", peerNameProgram),
  hook("portolan_peer6", ATTACH_TYPE.getpeername6, "v6", peerNameProgram),
  hook("portolan_conn4", ATTACH_TYPE.connect4, "v4", connectProgram),
  hook("portolan_conn6", ATTACH_TYPE.connect6, "v6", connectProgram),
];

/**
 * Puts the programs in, with nothing to exchange yet.
 * @param cgroup whose processes; undefined: those of all cgroups that are mounted here
 */
export async function openDirectPlane(cgroup: string | undefined): Promise<OpenedDirectPlane> {
  return attempt(cgroup, (maps, programs, folder) => {
    const links: number[] = [];
    try {
      for (const [index, { attachType }] of HOOKS.entries()) {
        const program = programs[index] ?? -1;
        links.push(createLink({ program, target: folder, attachType }));
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
  cgroup: string | undefined,
): Promise<DirectObstacle | undefined> {
  const outcome = await attempt(cgroup, (maps) => holding(maps, []));
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

type Use = (maps: DirectMaps, programs: readonly number[], folder: number) => DirectPlane;

async function attempt(cgroup: string | undefined, use: Use): Promise<OpenedDirectPlane> {
  const path = cgroup ?? (await findCgroupMount());
  if (path === undefined) return NO_CGROUPS;
  const opened: number[] = [];
  let maps: DirectMaps | undefined;
  let phase: Phase = "cgroup";
  try {
    // Those of version 1 have no such file.
    closeSync(openSync(join(path, "cgroup.controllers"), "r"));
    const folder = openSync(path, "r");
    opened.push(folder);
    phase = "namespace";
    const cookie = namespaceCookie();
    phase = "programs";
    maps = createDirectMaps(cookie);
    for (const { name, attachType, family, assemble } of HOOKS) {
      const instructions = assemble(family, maps.descriptors);
      const type = PROGRAM_TYPE.cgroupSockAddr;
      opened.push(loadProgram({ name, type, attachType, instructions }));
    }
    phase = "links";
    return { kind: "open", plane: use(maps, opened.slice(1), folder) };
  } catch (error) {
    maps?.close();
    return { kind: "obstacle", ...obstacleOf(phase, path, error) };
  } finally {
    for (const descriptor of opened) closeSync(descriptor);
  }
}

type Phase = "cgroup" | "namespace" | "programs" | "links";

const NO_CGROUPS: OpenedDirectPlane = {
  kind: "obstacle",
  what: "no cgroups of version 2 are mounted here",
  remedy: "mount -t cgroup2 none /sys/fs/cgroup, or name a folder of them: --direct-connect-cgroup",
};

const REMEDIES: Readonly<Record<Phase, string>> = {
  cgroup: "name a folder of the cgroups of version 2: --direct-connect-cgroup",
  namespace: "boot Linux 5.14 or newer",
  programs:
    "run it as root, or give it CAP_BPF and CAP_NET_ADMIN, on Linux 5.14 or newer built with CONFIG_CGROUP_BPF",
  links: "name a folder of the cgroups of version 2: --direct-connect-cgroup",
};

function obstacleOf(phase: Phase, path: string, error: unknown): DirectObstacle {
  const about = phase === "links" ? `${path}: ` : "";
  return { what: about + messageOf(error), remedy: REMEDIES[phase] };
}

function hook(name: string, attachType: number, family: Family, assemble: Hook["assemble"]): Hook {
  return { name, attachType, family, assemble };
}
