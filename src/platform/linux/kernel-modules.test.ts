import { expect, test } from "vitest";
import { CoreError } from "../../core/errors.ts";
import { createKernelModules, type ModuleWorld } from "./kernel-modules.ts";

const LISTS: Readonly<Record<string, string>> = {
  "/lib/modules/6.1/modules.builtin": "kernel/net/ipv6/ipv6.ko\n",
  "/lib/modules/6.1/modules.dep":
    "kernel/net/ip_vs.ko.xz: kernel/lib/crc.ko.xz\nkernel/net/ip-vs-sh.ko: kernel/net/ip_vs.ko.xz\n",
};

/** A machine on which some can be loaded. */
function machine(loadable: readonly string[], more: Partial<ModuleWorld> = {}) {
  const there = new Set<string>();
  const commands: string[] = [];
  const modules = createKernelModules({
    exec: {
      run: async (program, args) => {
        commands.push([program, ...args].join(" "));
        for (const name of args) if (loadable.includes(name)) there.add(name);
        return { exitCode: 1, stdout: "", stderr: "" };
      },
    },
    exists: (path) => there.has(path.replace("/sys/module/", "")),
    read: (path) => LISTS[path],
    release: "6.1",
    ...more,
  });
  return { modules, commands };
}

test("modules that are not there are loaded at once, and told; those that can not be are named", async () => {
  const { modules, commands } = machine(["ip_vs", "ip_vs_sh"]);
  expect(await modules.ensure(["ip_vs", "ip_vs_sh", "ip_vs_mh", "ipv6"])).toEqual({
    loaded: ["ip_vs", "ip_vs_sh"],
    missing: ["ip_vs_mh"],
  });
  expect(commands).toEqual(["modprobe -a -q -- ip_vs ip_vs_sh ip_vs_mh"]);
  expect(await modules.ensure(["ip_vs", "ip_vs_sh"])).toEqual({ loaded: [], missing: [] });
  expect(commands).toHaveLength(1);
});

test("without the program, what is not there is missing; without lists nothing is known", async () => {
  const none = new CoreError("ERR_NOT_POSSIBLE_HERE", "no modprobe");
  const without = machine([], { exec: { run: () => Promise.reject(none) } }).modules;
  expect(await without.ensure(["ip_vs"])).toEqual({ loaded: [], missing: ["ip_vs"] });
  const unlisted = machine([], { read: () => undefined });
  expect(await unlisted.modules.ensure(["ip_vs"])).toEqual({ loaded: [], missing: [] });
  expect(unlisted.modules.absent(["ip_vs"])).toEqual([]);
  expect(unlisted.modules.notLoaded(["ip_vs"])).toEqual([]);
  expect(unlisted.commands).toEqual([]);
});

test("what could be loaded is found without loading it", () => {
  const { modules, commands } = machine([]);
  expect(modules.notLoaded(["ip_vs", "ip_vs_mh", "ipv6"])).toEqual(["ip_vs", "ip_vs_mh"]);
  expect(modules.absent(["ip_vs", "ip_vs_sh", "ip_vs_mh", "ipv6", "crc"])).toEqual([
    "ip_vs_mh",
    "crc",
  ]);
  expect(commands).toEqual([]);
});
