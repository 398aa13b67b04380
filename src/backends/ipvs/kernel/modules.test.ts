import { expect, test } from "vitest";
import type { Log } from "../../../core/log.ts";
import { prepareModules } from "./modules.ts";

const silent = (): void => undefined;

test("what is needed from the start is loaded and told; what is missing is told with the remedy", async () => {
  const told: string[] = [];
  const asked: string[] = [];
  const log: Log = {
    debug: silent,
    info: (_, message) => void told.push(message),
    warn: (_, message) => void told.push(message),
    error: silent,
  };
  const modules = {
    ensure: async (names: readonly string[]) => {
      asked.push(...names);
      return { loaded: ["ip_vs", "ip_set"], missing: ["ip_vs_sh"] };
    },
    notLoaded: () => [],
    absent: () => [],
  };
  await prepareModules(modules, "sh", log);
  expect(asked.slice(0, 3)).toEqual(["ip_vs", "ip_vs_sh", "ip_set"]);
  expect(told).toEqual([
    "modules of the kernel were loaded: ip_vs, ip_set",
    expect.stringMatching(
      /^modules of the kernel are missing: ip_vs_sh; modprobe -a ip_vs_sh, or /,
    ),
  ]);
});
