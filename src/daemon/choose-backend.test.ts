import { expect, test } from "vitest";
import type { BackendDefinition } from "../backends/backend.ts";
import { PRINT } from "../backends/print/definition.ts";
import { chooseBackend } from "./choose-backend.ts";

const FIRST = "; the first that works here of nftables, ipvs, iptables, userspace";
const MACHINE = { os: "linux", isRoot: true } as const;

function backends(missing: Readonly<Record<string, string | undefined>>) {
  return async (name: string): Promise<BackendDefinition | undefined> => {
    if (!(name in missing)) return undefined;
    const what = missing[name];
    const probe: BackendDefinition["probe"] = async (machine) => {
      expect(machine).toBe(MACHINE);
      return what === undefined
        ? [{ severity: "degraded", what: "slow", remedy: "wait" }]
        : [{ severity: "missing", what, remedy: "install it" }];
    };
    return { ...PRINT, name, summary: `is ${name}`, probe };
  };
}

test("the best one that works here is chosen; what is only degraded works", async () => {
  const all = backends({ nftables: undefined, iptables: undefined, userspace: undefined });
  const { definition, reasons } = await chooseBackend(MACHINE, all);
  expect(definition.name).toBe("nftables");
  expect(reasons).toEqual([`nftables: is nftables${FIRST}`]);
});

test("what would be better is named with what it lacks; what this version lacks is not", async () => {
  const choice = await chooseBackend(
    MACHINE,
    backends({ nftables: "no nft", userspace: undefined }),
  );
  expect(choice.definition.name).toBe("userspace");
  expect(choice.reasons).toEqual([
    `userspace: is userspace${FIRST}`,
    "not nftables: no nft: install it",
  ]);
});

test("where nothing works, all remedies are told", async () => {
  await expect(
    chooseBackend(MACHINE, backends({ nftables: "no nft", userspace: "no sockets" })),
  ).rejects.toMatchObject({
    code: "ERR_NOT_POSSIBLE_HERE",
    message:
      "no backend works here:\n  not nftables: no nft: install it\n  not userspace: no sockets: install it",
  });
});

test("on Windows it is HCN where that is installed", async () => {
  const machine = { os: "win32", isRoot: false } as const;
  const asked: string[] = [];
  const load = async (name: string): Promise<BackendDefinition> => {
    asked.push(name);
    const lacks = { severity: "missing", what: "no DLL", remedy: "install it" } as const;
    return {
      ...PRINT,
      name,
      summary: `is ${name}`,
      probe: async () => (name === "hcn" ? [lacks] : []),
    };
  };
  const choice = await chooseBackend(machine, load);
  expect(asked).toEqual(["hcn", "userspace"]);
  expect(choice.reasons).toEqual([
    "userspace: is userspace; the first that works here of hcn, userspace",
    "not hcn: no DLL: install it",
  ]);
  const works = await chooseBackend(machine, async (name) => ({ ...PRINT, name }));
  expect(works.definition.name).toBe("hcn");
});
