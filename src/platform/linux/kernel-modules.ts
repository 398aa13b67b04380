import { existsSync, readFileSync } from "node:fs";
import { release } from "node:os";
import { CoreError } from "../../core/errors.ts";
import { type Exec, systemExec } from "./exec.ts";

/** What became of modules that are needed. */
export interface EnsuredModules {
  /** Those that were not there before. */
  readonly loaded: readonly string[];
  /** Those that are not there and could not be loaded. */
  readonly missing: readonly string[];
}

/** Modules of the kernel, by names such as `ip_vs_sh`. */
export interface KernelModules {
  /** Loads those that are not there yet. Where it can not be told whether one is there, it counts as such. */
  ensure(names: readonly string[]): Promise<EnsuredModules>;
  /** Those that `ensure` would try to load. Nothing is loaded. */
  notLoaded(names: readonly string[]): readonly string[];
  /** Those that are neither there nor could be loaded, as far as can be told. Nothing is loaded. */
  absent(names: readonly string[]): readonly string[];
}

/** What is looked at; tests give their own. */
export interface ModuleWorld {
  readonly exec: Exec;
  exists(path: string): boolean;
  /** Undefined where there is no such file. */
  read(path: string): string | undefined;
  /** Version of the kernel. */
  readonly release: string;
}

const SYSTEM: ModuleWorld = {
  exec: systemExec,
  exists: existsSync,
  read: (path) => {
    try {
      return readFileSync(path, "utf8");
    } catch {
      return undefined;
    }
  },
  release: release(),
};

/** By `modprobe`, see modprobe(8), and the lists that depmod(8) writes. */
export function createKernelModules(world: ModuleWorld = SYSTEM): KernelModules {
  const { exec, exists } = world;
  const isLoaded = (name: string): boolean => exists(`/sys/module/${name}`);
  /** In a container without the files of modules nothing is known: the kernel loads them itself. */
  const notLoaded = (names: readonly string[]): readonly string[] => {
    const builtIn = listed(world, "modules.builtin");
    if (builtIn === undefined) return [];
    return names.filter((name) => !isLoaded(name) && !builtIn.has(name));
  };
  return {
    ensure: async (names) => {
      const wanted = notLoaded(names);
      if (wanted.length === 0) return { loaded: [], missing: [] };
      await modprobe(exec, wanted);
      return {
        loaded: wanted.filter(isLoaded),
        missing: wanted.filter((name) => !isLoaded(name)),
      };
    },
    notLoaded,
    absent: (names) => {
      const builtIn = listed(world, "modules.builtin");
      const loadable = listed(world, "modules.dep");
      if (builtIn === undefined || loadable === undefined) return [];
      return names.filter((name) => !isLoaded(name) && !builtIn.has(name) && !loadable.has(name));
    },
  };
}

/** What can not be loaded does not hold up the others. */
async function modprobe(exec: Exec, names: readonly string[]): Promise<void> {
  try {
    await exec.run("modprobe", ["-a", "-q", "--", ...names]);
  } catch (error) {
    if (!(error instanceof CoreError)) throw error;
  }
}

/** The names in a list of modules: lines such as `kernel/net/ip-vs.ko.xz: ...`. */
function listed({ read, release: version }: ModuleWorld, file: string): Set<string> | undefined {
  const text = read(`/lib/modules/${version}/${file}`);
  if (text === undefined) return undefined;
  const names = text.matchAll(/^[^:\n]*\/([^/:\n]+?)\.ko[^/:\n]*(?::|$)/gm);
  return new Set([...names].map(([, name = ""]) => name.replaceAll("-", "_")));
}
