import { describe, expect, test } from "vitest";
import { CoreError } from "../../core/errors.ts";
import { endpointSchema } from "../../core/model/endpoint.ts";
import { groupSchema } from "../../core/model/group.ts";
import { listenerSchema } from "../../core/model/listener.ts";
import { nodeSchema } from "../../core/model/node.ts";
import type { ModelObject } from "../../core/model/object.ts";
import { serviceSchema } from "../../core/model/service.ts";
import { flagLayer, resolveOptions } from "../../core/options/resolve-options.ts";
import { GlobalStore } from "../../core/store/global-store.ts";
import { NodeWatcher } from "../../core/view/node-watcher.ts";
import { FakeDirectPlane } from "../../platform/linux/direct-connect/fake-direct-plane.fixture.ts";
import { type Exec, type ExecOptions, stdinText } from "../../platform/linux/exec.ts";
import { savedAfter } from "../../platform/linux/iptables/saved-after.fixture.ts";
import type { TableState } from "../../wire/netlink/nftables/table-messages.ts";
import { MANY_SERVICES } from "../direct-keeper.ts";
import { NO_FAST_WORLD } from "../no-fast-world.fixture.ts";
import { createIptablesBackend } from "./create-iptables-backend.ts";
import { IPTABLES } from "./definition.ts";
import type { IptablesWorld } from "./iptables-world.ts";

const node = nodeSchema.parse({ kind: "Node", name: "here", addresses: ["192.0.2.1"] });
const web = serviceSchema.parse({
  kind: "Service",
  name: "web",
  clusterIPs: ["10.96.0.1"],
  ports: [{ port: 53, protocol: "UDP", targetPort: 53 }],
});
const endpoint = (name: string, more: object = {}): ModelObject =>
  endpointSchema.parse({
    kind: "Endpoint",
    name,
    group: "web",
    addresses: [`10.1.0.${name}`],
    ...more,
  });

/** Tools that do as they are told, or complain; they keep no rules, and save what they are said to. */
class FakeTools implements Exec {
  /** What there is to be saved, by the program that saves it. */
  readonly kept = new Map<string, string>();
  /** The programs that saved something, or nothing. */
  readonly saves: string[] = [];
  readonly scripts: { readonly program: string; readonly text: string }[] = [];
  readonly complaints = new Map<string, string>();
  /** How many pieces of its input a tool reads that complains. */
  readsBeforeComplaint = 0;

  #readSome(stdin: Iterable<string>): void {
    const pieces = stdin[Symbol.iterator]();
    for (let count = 0; count < this.readsBeforeComplaint; count += 1) pieces.next();
  }

  async run(program: string, args: readonly string[], { stdin }: ExecOptions = {}) {
    const complaint = this.complaints.get(program);
    if (complaint !== undefined) {
      if (stdin !== undefined) this.#readSome(stdin);
      return { exitCode: 1, stdout: "", stderr: complaint };
    }
    const isTried = args.includes("--test") || args.includes("--version");
    if (program.endsWith("-restore") && !isTried)
      this.scripts.push({ program, text: stdinText(stdin) });
    if (program.endsWith("-save")) this.saves.push(program);
    return { exitCode: 0, stdout: this.kept.get(program) ?? "", stderr: "" };
  }

  /** From here on there are the rules that were written so far, to an empty kernel. */
  keep(): void {
    for (const { program, text } of this.scripts) {
      this.kept.set(program.replace("-restore", "-save"), savedAfter(text));
    }
    this.scripts.length = 0;
  }
}

async function setUp(flags: object = {}, more: Partial<IptablesWorld> = {}) {
  const tools = new FakeTools();
  const reconciled: string[][] = [];
  const warnings: string[] = [];
  const repairs: unknown[] = [];
  const locks = { held: 0 };
  /** Tables of nftables that are dormant. */
  const asleep: { tables: readonly TableState[]; isStuck: boolean } = {
    tables: [],
    isStuck: false,
  };
  const direct = new FakeDirectPlane();
  const opened = { direct: 0 };
  let nowMs = 0;
  let generation = 1;
  const rounds: { periodMs?: number; pass?: () => Promise<void> } = {};
  const none = () => undefined;
  const differed: unknown[] = [];
  const warn = (fields: object, text: string): void => {
    warnings.push(text);
    if ("differed" in fields) differed.push(fields.differed);
  };
  const every: IptablesWorld["clock"]["every"] = (periodMs, pass) => {
    Object.assign(rounds, { periodMs, pass });
    return () => {
      delete rounds.pass;
    };
  };
  const world: IptablesWorld = {
    exec: tools,
    clock: { nowMs: () => nowMs, sleep: async () => undefined, every },
    findKubeProxy: async () => undefined,
    isIpvsRunning: () => false,
    takeLock: () => {
      locks.held += 1;
      return {
        release: () => {
          locks.held = 0;
        },
      };
    },
    sysctl: { read: async () => "0", ensure: async () => true },
    openConntrack: () => ({
      reconcile: async (_, changed) => {
        reconciled.push([...changed]);
        return { looked: 0, removed: 2 };
      },
      close: none,
    }),
    openGeneration: () => ({ read: async () => generation, close: none }),
    nftTables: {
      list: async () => asleep.tables,
      wake: async (tables) => {
        if (asleep.isStuck) throw new CoreError("ERR_SYSTEM_CALL", "no waking");
        asleep.tables = asleep.tables.filter((table) => !tables.includes(table));
        generation += 1;
      },
    },
    openDirect: async () => {
      opened.direct += 1;
      return { kind: "open", plane: direct };
    },
    fast: NO_FAST_WORLD,
    ...more,
  };
  const { values } = resolveOptions(IPTABLES.options, [
    flagLayer({ iptablesMode: "nft", iptablesMinSyncPeriod: "0s", ...flags }),
  ]);
  if (values === undefined) throw new Error("options");
  const open = () =>
    createIptablesBackend(
      values,
      {
        nodeName: "here",
        stdout: process.stdout,
        log: { debug: none, info: none, warn, error: none },
        onRepair: (error) => repairs.push(error),
      },
      world,
    );
  return {
    tools,
    direct,
    opened,
    reconciled,
    warnings,
    /** What each repair ended with. */
    repairs,
    locks,
    asleep,
    /** What was told of each repair that had something to do. */
    differed,
    open,
    /** Lets the sync period pass, and waits until what it brings is done. */
    passPeriod: async () => rounds.pass?.(),
    rounds,
    alter: () => {
      generation += 1;
    },
    pass: (ms: number) => {
      nowMs += ms;
    },
  };
}

async function start(setup: Awaited<ReturnType<typeof setUp>>) {
  const backend = await setup.open();
  await backend.sink.setup();
  const store = new GlobalStore();
  const watcher = new NodeWatcher(store, "here", IPTABLES.sets);
  const tell = (objects: readonly ModelObject[]): void => {
    store.transact("test", (transaction) => transaction.replaceAll(objects));
    store.markSynced("test");
    for (const op of watcher.poll() ?? []) {
      if (op.op === "reset") backend.sink.reset();
      else if (op.op !== "sync") backend.sink.send(op);
    }
  };
  /** All that is there, as it follows a reset. */
  const tellAnew = (): void => {
    for (const op of new NodeWatcher(store, "here", IPTABLES.sets).poll() ?? []) {
      if (op.op !== "reset" && op.op !== "sync") backend.sink.send(op);
    }
  };
  const sync = async (): Promise<void> => {
    await backend.sink.send({ op: "sync" });
    // A good sync is right, too: what follows is of repairs.
    setup.repairs.length = 0;
  };
  return { backend, tell, tellAnew, sync };
}

test("a sync that fails says why, and the next one compares everything", async () => {
  const setup = await setUp();
  const { tell, sync } = await start(setup);
  tell([node, web, endpoint("1")]);
  await sync();
  setup.tools.scripts.length = 0;

  setup.tools.complaints.set("iptables-nft-restore", "iptables-restore: line 3 failed");
  tell([node, web, endpoint("1"), endpoint("2")]);
  const failure = await sync().catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(CoreError);
  expect(failure).toMatchObject({ code: "ERR_SYNC_FAILED" });
  expect(String(failure)).toContain("line 3 failed");

  setup.tools.complaints.clear();
  await sync();
  expect(setup.tools.scripts).toHaveLength(1);
  expect(setup.tools.scripts[0]?.text).toContain(":KUBE-POSTROUTING");
  expect(setup.tools.scripts[0]?.text).toContain("10.1.0.2:53");
});

test("a reset with the same state executes not one line, and one with another just what differs", async () => {
  const setup = await setUp();
  const { backend, tell, tellAnew, sync } = await start(setup);
  tell([node, web, endpoint("1")]);
  await sync();
  setup.tools.scripts.length = 0;
  backend.sink.reset();
  tellAnew();
  await sync();
  expect(setup.tools.scripts).toEqual([]);

  tell([node, web, endpoint("1"), endpoint("2")]);
  backend.sink.reset();
  tellAnew();
  await sync();
  expect(setup.tools.scripts).toHaveLength(1);
  expect(setup.tools.scripts[0]?.text).toContain("10.1.0.2:53");
  expect(setup.tools.scripts[0]?.text).not.toContain(":KUBE-POSTROUTING");
});

test("between a reset and the next sync all is as it was, also to a repair", async () => {
  const setup = await setUp();
  const { backend, tell, tellAnew, sync } = await start(setup);
  tell([node, web, endpoint("1")]);
  await sync();
  setup.tools.scripts.length = 0;
  backend.sink.reset();
  expect(backend.status().summary).toMatch(/^1 services, 1 endpoints, /);
  setup.alter();
  await setup.passPeriod();
  expect(setup.repairs).toEqual([undefined]);
  const [script] = setup.tools.scripts.filter(({ program }) => program === "iptables-nft-restore");
  expect(script?.text).toContain("10.1.0.1:53");

  setup.tools.scripts.length = 0;
  tellAnew();
  await sync();
  expect(setup.tools.scripts).toEqual([]);
});

test("a first sync of many services that fails half-way is made up for, with all of them", async () => {
  const setup = await setUp();
  const { tell, sync } = await start(setup);
  const many = Array.from({ length: 600 }, (_, index) => ({
    ...web,
    name: `many-${index}`,
    clusterIPs: [`10.97.${index >> 8}.${index & 255}`],
  }));
  tell([node, web, endpoint("1"), ...many]);
  setup.tools.readsBeforeComplaint = 1;
  setup.tools.complaints.set("iptables-nft-restore", "iptables-restore: line 3 failed");
  await expect(sync()).rejects.toThrow("line 3 failed");
  setup.tools.scripts.length = 0;

  setup.tools.complaints.clear();
  await setup.passPeriod();
  const [script] = setup.tools.scripts.filter(({ program }) => program === "iptables-nft-restore");
  for (const { clusterIPs } of many) expect(script?.text).toContain(`-d ${clusterIPs[0]}/32 `);
  expect(script?.text).toContain("10.1.0.1:53");
});

test("programs that were taken out are put in again by a repair, unless all was removed", async () => {
  const setup = await setUp();
  const { backend, tell, sync } = await start(setup);
  tell([node, web, endpoint("1")]);
  await sync();
  setup.direct.isOrphan = true;
  await setup.passPeriod();
  expect(setup.opened.direct).toBe(2);
  setup.direct.isOrphan = false;
  await backend.cleanup();
  await setup.passPeriod();
  expect(setup.opened.direct).toBe(2);
});

test("with very many services own connections follow the rules, to what the sync saw", async () => {
  const planes: FakeDirectPlane[] = [];
  const openDirect: IptablesWorld["openDirect"] = async () => {
    const plane = new FakeDirectPlane();
    planes.push(plane);
    return { kind: "open", plane };
  };
  const { backend, tell, sync } = await start(await setUp({ directConnect: "on" }, { openDirect }));
  const place = { ip: "10.96.0.1", port: 80 };
  const serving = (name: string, ip: string): ModelObject =>
    serviceSchema.parse({
      kind: "Service",
      name,
      clusterIPs: [ip],
      ports: [{ port: 80, targetPort: 80 }],
    });
  const others = Array.from({ length: MANY_SERVICES }, (_, index) =>
    serving(`other-${index}`, `10.97.${index >> 8}.${index & 255}`),
  );
  const all = [node, serving("web", place.ip), ...others, endpoint("1")];
  tell(all);
  await sync();
  // The next batch begins, and is taken back before its sync.
  tell([...all, endpoint("2")]);
  await backend.drain();
  expect(planes.at(-1)?.connect(place, 0.9)).toBe("10.1.0.1:80");
  tell(all);
  await sync();
  expect(planes.at(-1)?.connect(place, 0.9)).toBe("10.1.0.1:80");
  await backend.close();
  expect(planes.every(({ isClosed }) => isClosed)).toBe(true);
});

test("what a sync could not write is written by a repair, without a further change", async () => {
  const setup = await setUp();
  const { tell, sync } = await start(setup);
  tell([node, web, endpoint("1")]);
  await sync();
  setup.reconciled.length = 0;
  setup.tools.complaints.set("iptables-nft-restore", "resource busy");
  tell([node, web, endpoint("1"), endpoint("2")]);
  await expect(sync()).rejects.toThrow("resource busy");
  setup.tools.scripts.length = 0;

  await setup.passPeriod();
  expect(setup.repairs).toEqual([expect.objectContaining({ code: "ERR_SYNC_FAILED" })]);
  expect(setup.reconciled).toEqual([]);

  setup.tools.complaints.clear();
  await setup.passPeriod();
  expect(setup.repairs.at(-1)).toBeUndefined();
  const written = setup.tools.scripts.filter(({ program }) => program === "iptables-nft-restore");
  expect(written).toHaveLength(1);
  expect(written[0]?.text).toContain("10.1.0.2:53");
  expect(setup.warnings).toContain("rules that could not be written before are written");
  expect(setup.reconciled).toEqual([["default/web"]]);
});

test.each([
  ["rules can not be read", "iptables-nft-save"],
  ["rules can not be written", "iptables-nft-restore"],
])("a repair that fails (%s) is made in the next period", async (_, program) => {
  const setup = await setUp();
  const { tell, sync } = await start(setup);
  tell([node, web, endpoint("1")]);
  await sync();
  setup.tools.scripts.length = 0;
  setup.alter();
  setup.tools.complaints.set(program, "no");
  await setup.passPeriod();
  await setup.passPeriod();
  expect(setup.repairs).toEqual([expect.any(CoreError), expect.any(CoreError)]);

  setup.tools.complaints.clear();
  await setup.passPeriod();
  expect(setup.repairs.at(-1)).toBeUndefined();
  const written = setup.tools.scripts.filter(({ text }) => text.includes("10.1.0.1:53"));
  expect(written).toHaveLength(1);
});

describe("tables that others made dormant", () => {
  const NAT: TableState = { family: "ip", name: "nat", flags: 1 };
  const OF_OTHERS: TableState = { family: "ip", name: "mangle", flags: 1 };

  test("are woken by a repair, which tells them, and those of others are not", async () => {
    const setup = await setUp();
    const { tell, sync } = await start(setup);
    tell([node, web, endpoint("1")]);
    await sync();
    setup.asleep.tables = [NAT, OF_OTHERS];
    setup.alter();
    await setup.passPeriod();
    expect(setup.asleep.tables).toEqual([OF_OTHERS]);
    expect(setup.repairs).toEqual([undefined]);
    const ofTables = expect.arrayContaining(["table ip nat was dormant"]);
    expect(setup.differed).toEqual([
      ofTables,
      expect.not.arrayContaining(["table ip nat was dormant"]),
    ]);
  });

  test("that can not be woken make a repair fail, and are tried again", async () => {
    const setup = await setUp();
    const { tell, sync } = await start(setup);
    tell([node, web, endpoint("1")]);
    await sync();
    setup.asleep.tables = [NAT];
    setup.asleep.isStuck = true;
    setup.alter();
    await setup.passPeriod();
    await setup.passPeriod();
    expect(setup.repairs).toEqual([
      expect.objectContaining({ code: "ERR_SYNC_FAILED" }),
      expect.objectContaining({ code: "ERR_SYNC_FAILED" }),
    ]);
    setup.asleep.isStuck = false;
    await setup.passPeriod();
    expect(setup.repairs.at(-1)).toBeUndefined();
    expect(setup.asleep.tables).toEqual([]);
  });

  test("are woken by the first sync, and no concern of the legacy tools", async () => {
    for (const [iptablesMode, left] of [
      ["nft", []],
      ["legacy", [NAT]],
    ] as const) {
      const setup = await setUp({ iptablesMode });
      const { tell, sync } = await start(setup);
      setup.asleep.tables = [NAT];
      tell([node, web, endpoint("1")]);
      await sync();
      expect(setup.asleep.tables).toEqual(left);
      expect(setup.warnings).toHaveLength(1 - left.length);
    }
  });
});

test("rules that were found right are not read again before somebody changes something", async () => {
  const setup = await setUp();
  const { tell, sync } = await start(setup);
  tell([node, web, endpoint("1")]);
  await sync();
  setup.tools.keep();
  await setup.passPeriod();
  expect(setup.tools.scripts).toEqual([]);
  setup.tools.saves.length = 0;
  await setup.passPeriod();
  expect(setup.tools.saves).toEqual([]);
  setup.alter();
  await setup.passPeriod();
  expect(setup.tools.saves).toEqual(["iptables-nft-save", "ip6tables-nft-save"]);
});

test("rules that others put back to what they were before a change are put right", async () => {
  const setup = await setUp();
  const { tell, sync } = await start(setup);
  tell([node, web, endpoint("1")]);
  await sync();
  setup.tools.keep();
  await setup.passPeriod();
  tell([node, web, endpoint("1"), endpoint("2")]);
  await sync();
  setup.tools.scripts.length = 0;
  // What was kept is still what was there before.
  setup.alter();
  await setup.passPeriod();
  expect(setup.tools.scripts).toHaveLength(1);
  expect(setup.tools.scripts[0]?.text).toContain("10.1.0.2:53");
});

test("after a clean-up a period writes nothing, whatever others do", async () => {
  const setup = await setUp();
  const { backend, tell, sync } = await start(setup);
  tell([node, web, endpoint("1")]);
  await sync();
  await backend.cleanup();
  setup.tools.scripts.length = 0;
  setup.alter();
  await setup.passPeriod();
  expect(setup.repairs).toEqual([undefined]);
  expect(setup.tools.scripts).toEqual([]);
});

test.each([
  ["stay", true],
  ["go, too", false],
])("the chains that IPVS has in common %s where that runs (%s)", async (_, isRunning) => {
  const setup = await setUp({}, { isIpvsRunning: () => isRunning });
  const { backend } = await start(setup);
  setup.tools.kept.set(
    "iptables-nft-save",
    [
      "*nat",
      ":PREROUTING ACCEPT [0:0]",
      ":KUBE-SERVICES - [0:0]",
      ":KUBE-POSTROUTING - [0:0]",
      ":KUBE-IPVS-LOCAL - [0:0]",
      ":KUBE-NODEPORTS - [0:0]",
      "-A PREROUTING -j KUBE-SERVICES",
      "-A KUBE-SERVICES -j KUBE-IPVS-LOCAL",
      "COMMIT\n",
    ].join("\n"),
  );
  await backend.cleanup();
  const [script, ...others] = setup.tools.scripts;
  expect(others).toEqual([]);
  const removed = script?.text.split("\n").filter((line) => /^-[XD] /.test(line));
  const common = ["-D PREROUTING -j KUBE-SERVICES", "-X KUBE-SERVICES", "-X KUBE-POSTROUTING"];
  expect(removed).toEqual([...(isRunning ? [] : common), "-X KUBE-NODEPORTS"]);
});

test("a failing reader of the kernel's count does not end repairs", async () => {
  let isFailing = false;
  const read = async (): Promise<number> => {
    if (isFailing) throw new Error("ENOBUFS");
    return 1;
  };
  const setup = await setUp({}, { openGeneration: () => ({ read, close: () => undefined }) });
  const { tell, sync } = await start(setup);
  tell([node, web, endpoint("1")]);
  await sync();
  isFailing = true;
  await setup.passPeriod();
  isFailing = false;
  setup.tools.scripts.length = 0;
  await setup.passPeriod();
  expect(setup.repairs).toEqual([undefined, undefined]);
  expect(setup.tools.scripts).toHaveLength(2);
});

test("a setting of the kernel that could not be made is made by a repair", async () => {
  let isDenied = true;
  const ensured: string[] = [];
  const ensure = async (name: string): Promise<boolean> => {
    if (isDenied) throw new Error("EROFS");
    ensured.push(name);
    return true;
  };
  const setup = await setUp(
    { nodeportAddresses: "127.0.0.0/8" },
    { sysctl: { read: async () => "0", ensure } },
  );
  const { tell, sync } = await start(setup);
  tell([node, web]);
  await expect(sync()).rejects.toThrow("EROFS");
  await setup.passPeriod();
  expect(setup.repairs).toEqual([expect.objectContaining({ message: "EROFS" })]);
  isDenied = false;
  await setup.passPeriod();
  expect(setup.repairs.at(-1)).toBeUndefined();
  expect(ensured).toEqual(["net.ipv4.conf.all.route_localnet"]);
});

test("a setting of the kernel that others altered is put right by a repair, while it is needed", async () => {
  let value = "0";
  const ensure = async (_: string, wanted: string): Promise<boolean> => {
    const hadAnother = value !== wanted;
    value = wanted;
    return hadAnother;
  };
  const sysctl = { read: async () => "0", ensure };
  const setup = await setUp({}, { sysctl });
  const { tell, sync } = await start(setup);
  const onLoopback = listenerSchema.parse({
    kind: "Listener",
    name: "front",
    address: "127.0.0.1",
    port: 5353,
    mode: "udp",
    service: "default/web",
  });
  tell([node, web, onLoopback]);
  await sync();
  expect(value).toBe("1");
  value = "0";
  await setup.passPeriod();
  expect(value).toBe("1");
  expect(setup.warnings).toContain(
    "net.ipv4.conf.all.route_localnet was altered by others, and is set to 1 again",
  );

  tell([node, web]);
  await sync();
  value = "0";
  await setup.passPeriod();
  expect(value).toBe("0");
});

test("a second setup, as after a failure of another backend, leaves what is there", async () => {
  const setup = await setUp();
  const { backend, tell, sync } = await start(setup);
  tell([node, web, endpoint("1")]);
  await sync();
  setup.tools.scripts.length = 0;
  await backend.sink.setup();
  tell([node, web, endpoint("1"), endpoint("2")]);
  await sync();
  expect(setup.tools.scripts).toHaveLength(1);
  expect(setup.tools.scripts[0]?.text).not.toContain(":KUBE-POSTROUTING");
});

test("a sync period that is too short is refused, and the lock is not taken", async () => {
  const setup = await setUp({ iptablesSyncPeriod: "999ms" });
  await expect(setup.open()).rejects.toMatchObject({
    code: "ERR_USAGE",
    message: expect.stringMatching(/--iptables-sync-period: "999ms".*expected 1s or more/),
  });
  expect(setup.locks.held).toBe(0);
});

test("what one family refuses does not hold up the other", async () => {
  const setup = await setUp();
  const { tell, sync } = await start(setup);
  setup.tools.complaints.set("iptables-nft-restore", "no");
  tell([node, web]);
  await expect(sync()).rejects.toThrow("no");
  expect(setup.tools.scripts.map(({ program }) => program)).toEqual(["ip6tables-nft-restore"]);
});

test("after the rules, tracked flows are put right: of everything first, then of what changed", async () => {
  const setup = await setUp();
  const { backend, tell, sync } = await start(setup);
  const other = { ...web, name: "other", clusterIPs: ["10.96.0.2"] };
  tell([node, web, other, endpoint("1")]);
  await sync();
  tell([node, web, other, endpoint("2")]);
  await sync();
  expect(setup.reconciled).toEqual([["default/other", "default/web"], ["default/web"]]);
  const removed = backend.metrics?.().find(({ name }) => name === "iptables_removed_flows_total");
  expect(removed?.samples).toEqual([{ labels: {}, value: 4 }]);
});

test("with a service, the listeners are told through which its flows come", async () => {
  const told: string[] = [];
  const setup = await setUp(
    {},
    {
      openConntrack: () => ({
        reconcile: async (services) => {
          const listeners = services.listenersOf?.("default/web") ?? [];
          told.push(listeners.map(({ name }) => name).join(" "));
          return { looked: 0, removed: 0 };
        },
        close: () => undefined,
      }),
    },
  );
  const { tell, sync } = await start(setup);
  const front = { kind: "Listener", name: "front", service: "default/web", port: 5353 };
  tell([node, web, listenerSchema.parse({ ...front, address: "192.0.2.1", mode: "udp" })]);
  await sync();
  tell([node, web]);
  await sync();
  expect(told).toEqual(["front", ""]);
});

/** Tracked flows that can not be looked at as long as that is denied. */
function deniedFlows() {
  const state = { isDenied: true };
  const asked: string[][] = [];
  const openConntrack: IptablesWorld["openConntrack"] = () => ({
    reconcile: async (_, changed) => {
      asked.push([...changed]);
      if (state.isDenied) throw new Error("EPERM");
      return { looked: 0, removed: 3 };
    },
    close: () => undefined,
  });
  return { state, asked, openConntrack };
}

test("flows that can not be looked at are told, and tried again", async () => {
  const { state, asked, openConntrack } = deniedFlows();
  const setup = await setUp({}, { openConntrack });
  const { tell, sync } = await start(setup);
  tell([node, web]);
  await sync();
  expect(setup.warnings).toHaveLength(1);
  state.isDenied = false;
  tell([node, web, { ...web, name: "other", clusterIPs: ["10.96.0.2"] }]);
  await sync();
  expect(asked[1]).toEqual(["default/web", "default/other"]);
});

test("flows that could not be looked at are looked at by a repair, once, without a further change", async () => {
  const { state, asked, openConntrack } = deniedFlows();
  const setup = await setUp({}, { openConntrack });
  const { backend, tell, sync } = await start(setup);
  tell([node, web]);
  await sync();
  state.isDenied = false;
  await setup.passPeriod();
  await setup.passPeriod();
  expect(asked).toEqual([["default/web"], ["default/web"]]);
  const removed = backend.metrics?.().find(({ name }) => name === "iptables_removed_flows_total");
  expect(removed?.samples).toEqual([{ labels: {}, value: 3 }]);
});

test("flows that could not be looked at are left alone once all was removed", async () => {
  const { asked, openConntrack } = deniedFlows();
  const setup = await setUp({}, { openConntrack });
  const { backend, tell, sync } = await start(setup);
  tell([node, web]);
  await sync();
  await backend.cleanup();
  await setup.passPeriod();
  expect(asked).toHaveLength(1);
});

test("the time from a change to the kernel is counted for each change", async () => {
  const setup = await setUp();
  const { backend, tell, sync } = await start(setup);
  tell([node, web]);
  setup.pass(40);
  tell([node, web, { ...web, name: "late", clusterIPs: ["10.96.0.2"] }]);
  setup.pass(2);
  await sync();
  const times = backend
    .metrics?.()
    .find(({ name }) => name === "iptables_change_to_kernel_seconds");
  const upTo = (le: string) => times?.samples.find(({ labels }) => labels["le"] === le)?.value;
  expect([upTo("0.004"), upTo("0.032"), upTo("0.064"), upTo("+Inf")]).toEqual([1, 1, 3, 3]);
  const sum = times?.samples.find(({ suffix }) => suffix === "_sum");
  expect(sum?.value).toBeCloseTo(0.086);
});

test("status says what there is, and what rules can not do", async () => {
  const setup = await setUp();
  const { backend, tell, sync } = await start(setup);
  const served = { ...web, ports: web.ports.map((port) => ({ ...port, nodePort: 30_053 })) };
  tell([
    served,
    endpoint("1"),
    endpoint("2", { addresses: [], hostName: "a.example" }),
    groupSchema.parse({
      kind: "Group",
      name: "web",
      method: "least-connections",
      healthCheck: { protocol: "tcp" },
    }),
    listenerSchema.parse({
      kind: "Listener",
      name: "front",
      address: "192.0.2.1",
      port: 80,
      mode: "http",
      service: "default/web",
    }),
  ]);
  await sync();
  const { summary, notHonoured } = backend.status();
  expect(summary).toMatch(
    /^1 services, 2 endpoints, \d+ rules by iptables-nft; direct connections to 0 addresses; no fast path: rules are tested; none$/,
  );
  expect(notHonoured).toEqual([
    'the state has no Node "here", so its addresses are not known: node ports answer on none',
    "rules hold addresses, no host names and no unix sockets, so these endpoints are not used: default/web/2",
    "rules lead packets on and do not read them, so these listeners are not served: default/front",
    "rules choose at random by weight, whatever the method of these groups: default/web",
    "rules check nobody's health; these groups want it: default/web",
  ]);
});

test("who is refused lets go of the lock, and so does who is closed", async () => {
  const refused = await setUp({}, { findKubeProxy: async () => "pid 7" });
  await expect(refused.open()).rejects.toThrow("--take-over");
  expect(refused.locks.held).toBe(0);
  const setup = await setUp();
  const { backend } = await start(setup);
  expect(setup.locks.held).toBe(1);
  await backend.close();
  await backend.close();
  expect(setup.locks.held).toBe(0);
});

test("an implementation that can not change rules is refused at the start, with the lock let go", async () => {
  const setup = await setUp({ iptablesMode: "legacy" });
  setup.tools.complaints.set("iptables-legacy-restore", "unable to initialize table 'nat'");
  await expect(setup.open()).rejects.toMatchObject({
    code: "ERR_NOT_POSSIBLE_HERE",
    message: expect.stringMatching(/iptables-legacy: .*unable to initialize.*--iptables-mode/),
  });
  expect(setup.locks.held).toBe(0);
});

test("where only the rules of IPv6 can not be changed, IPv4 is served, and that is told", async () => {
  const setup = await setUp();
  setup.tools.complaints.set("ip6tables-nft-restore", "unable to initialize table 'nat'");
  const { backend, tell, sync } = await start(setup);
  tell([node, web, endpoint("1")]);
  await sync();
  expect(setup.tools.scripts.map(({ program }) => program)).toEqual(["iptables-nft-restore"]);
  expect(setup.warnings[0]).toMatch(/^only IPv4 is served: .*unable to initialize table 'nat'/);
  expect(backend.status().notHonoured).toEqual([setup.warnings[0]]);
});

test("a kernel without IPv6 is not told rules of IPv6", async () => {
  const sysctl = { read: async () => undefined, ensure: async () => false };
  const setup = await setUp({}, { sysctl });
  const { tell, sync } = await start(setup);
  tell([node, web]);
  await sync();
  expect(setup.tools.scripts.map(({ program }) => program)).toEqual(["iptables-nft-restore"]);
  expect(setup.warnings[0]).toBe("only IPv4 is served: this kernel has no IPv6");
});

test("rules are looked at in the period that is asked for, until the backend is closed", async () => {
  const setup = await setUp({ iptablesSyncPeriod: "7s" });
  const { backend } = await start(setup);
  expect(setup.rounds).toEqual({ periodMs: 7000, pass: expect.any(Function) });
  await backend.close();
  expect(setup.rounds).toEqual({ periodMs: 7000 });
});

test.each([
  ["0", true],
  ["1", false],
])(
  "with nf_conntrack_tcp_be_liberal %s invalid packets are dropped: %s",
  async (value, isDropped) => {
    const setup = await setUp(
      {},
      { sysctl: { read: async () => value, ensure: async () => false } },
    );
    const { tell, sync } = await start(setup);
    tell([node, web]);
    await sync();
    expect(setup.tools.scripts[0]?.text.includes("--ctstate INVALID -j DROP")).toBe(isDropped);
  },
);
