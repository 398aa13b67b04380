import { describe, expect, onTestFinished, test } from "vitest";
import { requires } from "../../../test/support/requires.ts";
import { CoreError } from "../../core/errors.ts";
import type { Log } from "../../core/log.ts";
import { groupSchema } from "../../core/model/group.ts";
import { listenerSchema } from "../../core/model/listener.ts";
import type { ModelObject } from "../../core/model/object.ts";
import type { ConntrackReconciler } from "../../platform/linux/conntrack/conntrack-reconciler.ts";
import { FakeDirectPlane } from "../../platform/linux/direct-connect/fake-direct-plane.fixture.ts";
import { type Exec, execChecked, stdinText, systemExec } from "../../platform/linux/exec.ts";
import { takeKernelLock } from "../../platform/linux/instance-lock.ts";
import { NetworkNamespace } from "../../platform/linux/network-namespace.ts";
import { createNft, type Nft } from "../../platform/linux/nft/nft.ts";
import { openNftElements } from "../../platform/linux/nft/nft-elements.ts";
import { openNftGeneration } from "../../platform/linux/nft/nft-generation.ts";
import type { Backend, BackendContext } from "../backend.ts";
import { MANY_SERVICES } from "../direct-keeper.ts";
import { NO_FAST_WORLD } from "../no-fast-world.fixture.ts";
import { createNftablesBackend } from "./nftables-backend.ts";
import { endpoint, Feed, NODE, NODE_NAME, optionsOf, service } from "./samples.fixture.ts";
import type { NftablesWorld } from "./world.ts";

/** A backend in a network namespace of its own, with what it said. */
class Rig {
  readonly namespace = NetworkNamespace.create();
  readonly warnings: string[] = [];
  readonly sysctls: string[] = [];
  /** What the daemon was told of repairs: `well`, or why not. */
  readonly repairs: string[] = [];
  /** How often it was told that the kernel is looked at. */
  looks = 0;
  readonly sleeps: number[] = [];
  /** The services whose flows were looked at, each with its listeners. */
  readonly reconciled: string[][] = [];
  nowMs = 0;
  /** What is seen of one that runs. */
  kubeProxy: string | undefined;
  /** What connections of this node meet before the rules. */
  direct = new FakeDirectPlane();
  /** Called when a transaction begins. */
  onWrite: () => void = () => undefined;
  /** Called when a table is read. */
  onRead: () => Promise<void> = async () => undefined;
  /** How often flows were let go of. */
  flowsClosed = 0;
  /** What happens every sync period. */
  check: () => Promise<void> = async () => undefined;
  readonly #failures = new Set<"nft" | "netlink" | "answer" | "flows">();
  readonly #conntrack: ConntrackReconciler = {
    reconcile: async (services, changed) => {
      if (this.#failures.delete("flows")) throw new CoreError("ERR_SYSTEM_CALL", "no flows");
      const nameAll = (key: string) =>
        [key, ...(services.listenersOf?.(key) ?? []).map(({ name }) => name)].join(" ");
      this.reconciled.push([...changed].map(nameAll));
      return { looked: 0, removed: 0 };
    },
    close: () => {
      this.flowsClosed += 1;
    },
  };
  #backend: Backend | undefined;
  #feed: Feed | undefined;

  constructor() {
    onTestFinished(async () => {
      await this.stop();
      this.namespace.close();
    });
  }

  /** @param change of what the kernel does */
  async start(
    flags: Readonly<Record<string, unknown>> = {},
    change: Partial<Nft> = {},
    more: Partial<BackendContext> = {},
  ): Promise<Backend> {
    const nft = createNft({
      run: (...call) => this.namespace.run(() => systemExec.run(...call)),
    });
    const elements = this.namespace.run(openNftElements);
    const world: NftablesWorld = {
      nft: {
        ...nft,
        run: async (script) => {
          this.onWrite();
          if (this.#failures.delete("nft")) throw new CoreError("ERR_PROGRAM_FAILED", "no nft");
          await nft.run(script);
          if (this.#failures.delete("answer"))
            throw new CoreError("ERR_PROGRAM_FAILED", "no answer");
        },
        outline: async (table) => {
          await this.onRead();
          return nft.outline(table);
        },
        ...change,
      },
      elements: {
        run: async (messages) => {
          this.onWrite();
          if (!this.#failures.delete("netlink")) return elements.run(messages);
          throw new CoreError("ERR_SYSTEM_CALL", "no netlink");
        },
        list: (...asked) => elements.list(...asked),
        close: () => elements.close(),
      },
      generation: this.namespace.run(openNftGeneration),
      sysctl: {
        read: async () => undefined,
        ensure: async (name, value) => this.sysctls.push(`${name}=${value}`) > 0,
      },
      findKubeProxy: async () => this.kubeProxy,
      takeLock: () => this.namespace.run(() => takeKernelLock("nftables")),
      createConntrack: () => this.#conntrack,
      fast: NO_FAST_WORLD,
      openDirect: async () => {
        this.direct = new FakeDirectPlane();
        return { kind: "open", plane: this.direct };
      },
      clock: {
        nowMs: () => this.nowMs,
        sleep: async (ms) => {
          this.sleeps.push(ms);
          this.nowMs += ms;
        },
        every: (_periodMs, act) => {
          this.check = act;
          return () => undefined;
        },
      },
    };
    const context = {
      nodeName: NODE_NAME,
      log: this.#log(),
      stdout: process.stderr,
      onRepair: (error: unknown) =>
        void this.repairs.push(error === undefined ? "well" : String(error)),
      onRepairing: () => {
        this.looks += 1;
      },
      ...more,
    };
    const backend = await createNftablesBackend(optionsOf(flags), context, world);
    this.#backend = backend;
    this.#feed = new Feed(backend.sink);
    return backend;
  }

  /** Lets the next transaction fail: by nft, by nft after the kernel took it, of elements, or of flows. */
  failNext(how: "nft" | "answer" | "netlink" | "flows"): void {
    this.#failures.add(how);
  }

  async apply(...objects: readonly ModelObject[]): Promise<void> {
    await this.#feed?.apply(NODE, ...objects);
  }

  async stop(): Promise<void> {
    await this.#backend?.close();
    this.#backend = undefined;
  }

  async run(...args: readonly string[]): Promise<string> {
    const { stdout } = await this.namespace.run(() => execChecked(systemExec, "nft", args));
    return stdout;
  }

  /** Somebody else's transaction. */
  async feed(script: string): Promise<void> {
    const input = { stdin: script };
    await this.namespace.run(() => execChecked(systemExec, "nft", ["-f", "-"], input));
  }

  /** All that the kernel holds for IPv4, in an order of its own. */
  async listing(): Promise<readonly string[]> {
    const text = await this.run("list", "table", "ip", "portolan");
    return text
      .split(/[\n,]/)
      .map((line) => line.trim())
      .sort();
  }

  async generation(): Promise<number> {
    const generation = this.namespace.run(openNftGeneration);
    try {
      return await generation.read();
    } finally {
      generation.close();
    }
  }

  #log(): Log {
    const tell = (_fields: object, message: string): void => {
      this.warnings.push(message);
    };
    return { debug: () => undefined, info: () => undefined, warn: tell, error: tell };
  }
}

const STICKY = service({ affinitySeconds: 600, externalIPs: ["203.0.113.1"] });

describe("in the kernel", requires("linux", "root", "nft"), () => {
  test("a restart with the same state changes nothing, whatever happened before", async () => {
    const rig = new Rig();
    await rig.start();
    const other = service({ name: "other", clusterIPs: ["10.96.0.2", "fd00:96::2"] });
    const others = [1, 2, 3, 4].map((n) =>
      endpoint(n, { name: `o-${n}`, group: "other", addresses: [`10.1.1.${n}`, `fd00:1::${n}`] }),
    );
    await rig.apply(STICKY, endpoint(1), endpoint(2), endpoint(3), other, ...others);
    await rig.apply(STICKY, endpoint(2), endpoint(3), other, ...others.slice(1));
    await rig.apply(STICKY, endpoint(2), endpoint(3), other, ...others.slice(1), endpoint(9));
    const state = [STICKY, endpoint(2), endpoint(3), endpoint(9), other, ...others.slice(1)];
    await rig.stop();
    const before = await rig.generation();
    await rig.start();
    await rig.apply(...state);
    expect(await rig.generation()).toBe(before);
    await rig.apply(...state, endpoint(10));
    expect(await rig.generation()).toBe(before + 1);
  });

  test("nor where endpoints of this node stand elsewhere among all than among themselves", async () => {
    const rig = new Rig();
    await rig.start();
    const web = { ...STICKY, externalTrafficPolicy: "Local" } as const;
    const here = [1, 2, 3, 4, 5].map((number) => endpoint(number, { node: NODE_NAME }));
    await rig.apply(web, ...here, endpoint(6), endpoint(7));
    await rig.apply(web, ...here.slice(2), endpoint(6), endpoint(7));
    const state = [web, ...here.slice(2), endpoint(7)];
    await rig.apply(...state);
    await rig.stop();
    const before = await rig.generation();
    await rig.start();
    await rig.apply(...state);
    expect(await rig.generation()).toBe(before);
  });

  test("very many services come by netlink, as the text for nft would have made them", async () => {
    const many = Array.from({ length: 400 }, (_, index) => {
      const group = `many-${index}`;
      const low = `${index >> 8}.${index & 255}`;
      const isLocal = index % 3 === 0;
      return [
        service({
          name: group,
          clusterIPs: [`10.97.${low}`, `fd00:97::${index + 1}`],
          loadBalancerIPs: [`203.1.${low}`],
          affinitySeconds: index % 2 === 0 ? 600 : 0,
          ...(index % 5 === 0 && { sourceRanges: ["192.0.2.0/24", "198.51.100.7/32"] }),
          ...(isLocal && { externalTrafficPolicy: "Local" }),
        }),
        ...[1, 2].slice(0, index % 4).map((number) =>
          endpoint(number, {
            name: `${group}-${number}`,
            group,
            addresses: [`10.${number}.${low}`, `fd00:${number}::${index}`],
            ...(isLocal && number === 1 && { node: NODE_NAME }),
          }),
        ),
      ];
    }).flat();
    const [byNetlink, byText] = [new Rig(), new Rig()];
    for (const rig of [byNetlink, byText]) await rig.start();
    const empty = await byNetlink.generation();
    byText.failNext("netlink");
    for (const rig of [byNetlink, byText]) await rig.apply(STICKY, endpoint(1), ...many);
    expect(byNetlink.warnings).toEqual([]);
    expect(await byNetlink.generation()).toBe(empty + 3);
    expect(byText.warnings).toEqual([expect.stringContaining("nft is told all of it")]);
    expect(await byNetlink.listing()).toEqual(await byText.listing());
    expect((await byNetlink.listing()).join()).toContain("203.1.1.1");
    // It knows what is there: the next change is one of elements, and a restart finds nothing to do.
    await byNetlink.apply(STICKY, endpoint(2), ...many);
    expect(await byNetlink.generation()).toBe(empty + 4);
    await byNetlink.stop();
    await byNetlink.start();
    await byNetlink.apply(STICKY, endpoint(2), ...many);
    expect(await byNetlink.generation()).toBe(empty + 4);
  });

  test("a restart with another state takes one transaction", async () => {
    const rig = new Rig();
    await rig.start();
    await rig.apply(STICKY, endpoint(1));
    await rig.stop();
    const before = await rig.generation();
    await rig.start();
    await rig.apply(service(), endpoint(2));
    expect(await rig.generation()).toBe(before + 1);
    const listing = (await rig.listing()).join("\n");
    expect(listing).toContain("10.1.0.2 . 8080");
    expect(listing).not.toContain("203.0.113.1");
  });

  test("a restart executes just what differs, also where others altered it meanwhile", async () => {
    const rig = new Rig();
    const scripts: string[] = [];
    const exec: Exec = {
      run: (program, args, options) => {
        if (args.includes("-f")) scripts.push(stdinText(options?.stdin));
        return rig.namespace.run(() => systemExec.run(program, args, options));
      },
    };
    await rig.start();
    await rig.apply(STICKY, endpoint(1), endpoint(2));
    const before = await rig.listing();
    await rig.stop();
    await rig.run("add element ip portolan cluster-ips { 10.96.7.7 }");
    await rig.run("delete element ip portolan cluster-ips { 10.96.0.1 }");
    await rig.run("flush chain ip portolan dispatch");
    await rig.start({}, createNft(exec));
    await rig.apply(STICKY, endpoint(1), endpoint(2));
    expect(await rig.listing()).toEqual(before);
    expect(scripts.join("").split("\n")).toEqual([
      expect.stringMatching(/^add chain ip portolan dispatch /),
      "delete element ip portolan cluster-ips { 10.96.7.7 }",
      "flush chain ip portolan dispatch",
      expect.stringMatching(/^add rule ip portolan dispatch /),
      "add element ip portolan cluster-ips { 10.96.0.1 }",
      "",
    ]);
  });

  test("a restart leaves no chain of others that packets meet", async () => {
    const rig = new Rig();
    await rig.start();
    await rig.apply(service(), endpoint(1));
    const before = await rig.listing();
    await rig.stop();
    await rig.run(
      "add chain ip portolan mine { type filter hook forward priority 0 ; policy drop ; }",
    );
    await rig.start();
    await rig.apply(service(), endpoint(1));
    expect(await rig.listing()).toEqual(before);
  });

  test.each([
    ["an element is deleted", "delete element ip portolan services { 10.96.0.1 . tcp . 80 }"],
    ["an element is added", "add element ip portolan cluster-ips { 10.9.9.9 }"],
    ["a rule is added", "add rule ip portolan dispatch accept"],
    ["rules are deleted", "flush chain ip portolan postrouting"],
    ["a chain is added", "add chain ip portolan mine"],
    ["a table is deleted", "delete table ip portolan"],
  ])("what others did is undone and told: %s", async (_name, command) => {
    const rig = new Rig();
    await rig.start();
    await rig.apply(service(), endpoint(1), endpoint(2));
    const before = await rig.listing();
    await rig.run(command);
    await rig.check();
    expect(await rig.listing()).toEqual(before);
    expect(rig.warnings[0]).toContain("others changed the rules, which is undone");
  });

  test("what others did while the tables were read is undone by the check after that", async () => {
    const rig = new Rig();
    await rig.start();
    await rig.apply(service(), endpoint(1));
    const before = await rig.listing();
    let reads = 0;
    rig.onRead = async () => {
      reads += 1;
      if (reads === 2) await rig.run("add rule ip portolan dispatch accept");
    };
    await rig.run("add table ip other");
    await rig.check();
    expect(await rig.listing()).not.toEqual(before);
    await rig.check();
    expect(await rig.listing()).toEqual(before);
  });

  test("what others did beside ours is looked at once", async () => {
    const rig = new Rig();
    await rig.start();
    await rig.apply(service(), endpoint(1));
    let reads = 0;
    rig.onRead = async () => {
      reads += 1;
    };
    await rig.run("add table ip other");
    for (let time = 0; time < 3; time += 1) await rig.check();
    expect([reads, rig.warnings]).toEqual([2, []]);
  });

  test("what others did is undone also where they did what was to be done next", async () => {
    const rig = new Rig();
    await rig.start();
    const other = service({ name: "other", clusterIPs: ["10.96.0.2"] });
    const its = endpoint(2, { name: "o-2", group: "other", addresses: ["10.1.1.2"] });
    await rig.apply(service(), endpoint(1), other, its);
    const after = await rig.run("list", "table", "ip", "portolan");
    await rig.apply(service(), endpoint(1));
    const altered = `${after}\nadd rule ip portolan dispatch accept\n`;
    await rig.feed(`delete table ip portolan\n${altered}`);
    const before = await rig.generation();
    await rig.apply(service(), endpoint(1), other, its);
    // The kernel does not count a transaction that changes nothing.
    expect(await rig.generation()).toBe(before);
    await rig.check();
    expect(rig.warnings[0]).toContain("others changed the rules, which is undone");
    expect(await rig.run("list", "chain", "ip", "portolan", "dispatch")).not.toContain("accept");
  });

  test.each([
    ["by netlink", [endpoint(1), endpoint(3)]],
    ["by nft", [endpoint(1), endpoint(2), service({ name: "other", clusterIPs: ["10.96.0.2"] })]],
  ])("what others did before a sync is undone by the check after it: %s", async (_how, next) => {
    const rig = new Rig();
    const backend = await rig.start();
    await rig.apply(service(), endpoint(1), endpoint(2));
    await rig.run("add rule ip portolan dispatch accept");
    await rig.apply(service(), ...next);
    expect(rig.warnings).toEqual([]);
    await rig.check();
    expect(rig.warnings).toEqual([
      expect.stringContaining("others changed the rules, which is undone"),
    ]);
    const repairs = () =>
      backend.metrics?.().find(({ name }) => name === "nftables_repairs_total")?.samples;
    expect(repairs()).toMatchObject([{ value: 1 }]);
    expect(await rig.run("list", "chain", "ip", "portolan", "dispatch")).not.toContain("accept");
    const before = await rig.generation();
    await rig.check();
    expect([await rig.generation(), repairs()]).toMatchObject([before, [{ value: 1 }]]);
  });

  test("a change that the kernel does not expect becomes one full transaction", async () => {
    const rig = new Rig();
    await rig.start();
    await rig.apply(service(), endpoint(1), endpoint(2));
    await rig.run("delete element ip portolan endpoints { 10.96.0.1 . tcp . 80 . 0:2 }");
    const before = await rig.generation();
    await rig.apply(service(), endpoint(1));
    expect(await rig.generation()).toBe(before + 1);
    await rig.stop();
    await rig.start();
    await rig.apply(service(), endpoint(1));
    expect(await rig.generation()).toBe(before + 1);
  });

  test("a full transaction takes along chains that were to go with it", async () => {
    const rig = new Rig();
    await rig.start();
    await rig.apply(service(), endpoint(1), endpoint(2));
    await rig.apply(service(), endpoint(1));
    expect((await rig.listing()).join("\n")).toContain("chain random-2");
    await rig.run("delete element ip portolan endpoints { 10.96.0.1 . tcp . 80 . 0:1 }");
    await rig.apply(service(), endpoint(3));
    expect(rig.warnings).toHaveLength(1);
    expect((await rig.listing()).join("\n")).not.toContain("chain random-2");
  });

  test("one endpoint in the place of another starts no program, and is one transaction", async () => {
    const rig = new Rig();
    const real = createNft({ run: (...call) => rig.namespace.run(() => systemExec.run(...call)) });
    const scripts: string[] = [];
    const run = async (script: string): Promise<void> => {
      scripts.push(script);
      await real.run(script);
    };
    const backend = await rig.start({}, { run });
    await rig.apply(service(), endpoint(1), endpoint(2));
    const before = await rig.generation();
    await rig.apply(service(), endpoint(1), endpoint(3));
    expect(scripts).toHaveLength(1);
    expect(await rig.generation()).toBe(before + 1);
    expect((await rig.listing()).join("\n")).toContain(
      "10.96.0.1 . tcp . 80 . 0:2 : 10.1.0.3 . 8080",
    );
    const metrics = new Map(backend.metrics?.().map(({ name, samples }) => [name, samples]));
    expect(metrics.get("nftables_transactions_total")?.[0]?.value).toBe(2);
  });

  test.each([
    "delete element ip portolan endpoints { 10.96.0.1 . tcp . 80 . 0:2 }",
    "delete table ip portolan",
  ])(
    "elements that the kernel does not expect become one full transaction: %s",
    async (command) => {
      const rig = new Rig();
      await rig.start();
      await rig.apply(service(), endpoint(1), endpoint(2));
      await rig.run(command);
      const before = await rig.generation();
      await rig.apply(service(), endpoint(1), endpoint(3));
      expect(await rig.generation()).toBe(before + 1);
      expect(rig.warnings).toEqual([
        "the kernel holds something else than was written: all is written anew",
      ]);
      const listing = (await rig.listing()).join("\n");
      expect(listing).toContain("10.1.0.3 . 8080");
      expect(listing).not.toContain("10.1.0.2 . 8080");
    },
  );

  test.each([
    ["a set in place of a map", "set services { type ipv4_addr ; }"],
    ["a map of other things", "map services { type ipv4_addr : verdict ; }"],
    [
      "chains at other hooks",
      "chain dispatch { type filter hook forward priority 0 ; policy drop ; }",
    ],
    [
      "all of that, on which nft crashes",
      "map services { type ipv4_addr : verdict ; }\nset endpoints { type ipv4_addr ; }\nchain dispatch { type filter hook forward priority 0 ; policy drop ; }",
    ],
  ])("a table that can not be mended is made anew: %s", async (_name, content) => {
    const rig = new Rig();
    await rig.feed(`table ip portolan {\n${content}\n}\n`);
    await rig.start();
    await rig.apply(service(), endpoint(1));
    const listing = (await rig.listing()).join("\n");
    expect(listing).toContain("10.96.0.1 . tcp . 80");
    expect(listing).not.toContain("hook forward");
    await rig.stop();
    const before = await rig.generation();
    await rig.start();
    await rig.apply(service(), endpoint(1));
    expect(await rig.generation()).toBe(before);
  });

  test("so is one that has our names, and holds other things by them", async () => {
    const rig = new Rig();
    await rig.start();
    await rig.apply(service(), endpoint(1));
    await rig.stop();
    const text = await rig.run("list", "table", "ip", "portolan");
    const altered = text.replace(/map choices \{[^}]*\}/, "map choices { type mark : verdict ; }");
    expect(altered).not.toBe(text);
    await rig.feed(`delete table ip portolan\n${altered}`);
    await rig.start();
    await rig.apply(STICKY, endpoint(1));
    expect((await rig.listing()).join("\n")).toContain("203.0.113.1 . tcp . 80");
    await rig.check();
    expect(rig.warnings).toHaveLength(1);
  });

  test("what the kernel remembers of clients outlives repairs", async () => {
    const rig = new Rig();
    await rig.start();
    await rig.apply(STICKY, endpoint(1));
    await rig.run(
      "add element ip portolan remembered { 192.0.2.9 . 10.96.0.1 . tcp . 80 timeout 1h : 0:5 }",
    );
    await rig.run("flush chain ip portolan dispatch");
    await rig.check();
    await rig.apply(STICKY, endpoint(1), endpoint(2));
    expect(await rig.run("list", "map", "ip", "portolan", "remembered")).toContain("192.0.2.9");
  });

  describe("tables that others made dormant", () => {
    const FAMILIES = ["ip", "ip6"] as const;
    const sleep = async (rig: Rig): Promise<void> => {
      for (const family of FAMILIES)
        await rig.run(`add table ${family} portolan { flags dormant ; }`);
    };
    const tables = async (rig: Rig): Promise<string> => {
      const texts = await Promise.all(
        FAMILIES.map((family) => rig.run("list", "table", family, "portolan")),
      );
      return texts.join("");
    };
    const startWith = async (...objects: readonly ModelObject[]): Promise<Rig> => {
      const rig = new Rig();
      await rig.start();
      await rig.apply(...objects);
      return rig;
    };
    const MEMORY = "192.0.2.9 . 10.96.0.1 . tcp . 80";

    test("are awake after the next check, which says so, and keep what they remember", async () => {
      const rig = await startWith(STICKY, endpoint(1));
      await rig.run(`add element ip portolan remembered { ${MEMORY} timeout 1h : 0:5 }`);
      await sleep(rig);
      expect(await tables(rig)).toContain("flags dormant");
      await rig.check();
      expect(await tables(rig)).not.toContain("flags dormant");
      expect(await tables(rig)).toContain(MEMORY);
      expect(rig.warnings).toEqual([
        "others changed the rules, which is undone: table ip portolan: it has the flag dormant",
      ]);
      const generation = await rig.generation();
      await rig.check();
      expect(await rig.generation()).toBe(generation);
    });

    test("are awake after the check that follows a change", async () => {
      const rig = await startWith(service(), endpoint(1));
      await sleep(rig);
      await rig.apply(service(), endpoint(1), endpoint(2));
      await rig.check();
      expect(await tables(rig)).not.toContain("flags dormant");
      expect(rig.warnings).toHaveLength(1);
    });

    test("are awake after a restart", async () => {
      const rig = await startWith(service(), endpoint(1));
      const before = await rig.listing();
      await rig.stop();
      await sleep(rig);
      await rig.start();
      await rig.apply(service(), endpoint(1));
      expect(await tables(rig)).not.toContain("flags dormant");
      expect(await rig.listing()).toEqual(before);
    });

    test("and without a chain that packets meet, are made anew", async () => {
      const rig = await startWith(service(), endpoint(1));
      const before = await rig.listing();
      await sleep(rig);
      await rig.run("flush chain ip portolan output");
      await rig.run("delete chain ip portolan output");
      await rig.check();
      expect(await rig.listing()).toEqual(before);
      expect(rig.repairs).toEqual(["well", "well"]);
    });
  });

  test("tracked flows are looked at of services that changed, and of those that listeners come to and go from", async () => {
    const rig = new Rig();
    await rig.start();
    const front = (name: string, more: object = {}) =>
      listenerSchema.parse({
        kind: "Listener",
        name: "front",
        address: "192.0.2.1",
        port: 5353,
        mode: "udp",
        service: `default/${name}`,
        ...more,
      });
    const other = service({ name: "other", clusterIPs: ["10.96.0.2"] });
    await rig.apply(service(), other, front("web"));
    await rig.apply(service(), other, front("other"));
    await rig.apply(service(), other, front("other", { node: "elsewhere" }));
    expect(rig.reconciled.map((all) => all.toSorted())).toEqual([
      ["default/other", "default/web front"],
      ["default/other front", "default/web"],
      ["default/other"],
    ]);
  });

  test("a transaction that failed is repeated with what changed meanwhile", async () => {
    const rig = new Rig();
    rig.failNext("nft");
    await rig.start();
    await expect(rig.apply(service(), endpoint(1))).rejects.toThrow("no nft");
    await rig.apply(service(), endpoint(1), endpoint(2));
    expect((await rig.listing()).join("\n")).toContain("10.1.0.2 . 8080");
    expect((await rig.listing()).join("\n")).toContain("10.1.0.1 . 8080");
  });

  test("a first transaction that failed is done by the next check", async () => {
    const rig = new Rig();
    rig.failNext("nft");
    await rig.start();
    await expect(rig.apply(service(), endpoint(1))).rejects.toThrow("no nft");
    expect(rig.reconciled).toEqual([]);
    await rig.check();
    expect((await rig.listing()).join("\n")).toContain("10.1.0.1 . 8080");
    expect(rig.reconciled).toEqual([["default/web"]]);
    await rig.check();
    expect(rig.reconciled).toHaveLength(1);
  });

  test("closed, it lets go of flows", async () => {
    const rig = new Rig();
    await rig.start();
    await rig.apply(service(), endpoint(1));
    await rig.stop();
    expect(rig.flowsClosed).toBe(1);
  });

  test("flows that can not be looked at are told, make no sync fail, and are looked at by the next check", async () => {
    const rig = new Rig();
    rig.failNext("flows");
    await rig.start();
    await rig.apply(service(), endpoint(1));
    expect(rig.warnings).toEqual([expect.stringContaining("tracked flows could not be looked at")]);
    await rig.check();
    expect(rig.reconciled).toEqual([["default/web"]]);
  });

  test("a repair that failed is told, and done by the next check", async () => {
    const rig = new Rig();
    await rig.start();
    await rig.apply(service(), endpoint(1));
    const before = await rig.listing();
    await rig.run("flush chain ip portolan postrouting");
    rig.failNext("nft");
    await rig.check();
    expect(await rig.listing()).not.toEqual(before);
    await rig.check();
    expect(await rig.listing()).toEqual(before);
    expect(rig.repairs).toEqual(["well", expect.stringContaining("no nft"), "well"]);
    expect(rig.looks).toBe(2);
    const generation = await rig.generation();
    await rig.check();
    expect(await rig.generation()).toBe(generation);
  });

  test("a repair that failed is done by the next sync, and the check after it finds all well", async () => {
    const rig = new Rig();
    await rig.start();
    await rig.apply(service(), endpoint(1));
    await rig.run("add chain ip portolan mine");
    await rig.run("flush chain ip portolan postrouting");
    rig.failNext("nft");
    await rig.check();
    await rig.apply(service(), endpoint(2));
    expect(rig.repairs).toEqual(["well", expect.stringContaining("no nft"), "well"]);
    const mended = await rig.listing();
    const generation = await rig.generation();
    await rig.check();
    expect(await rig.generation()).toBe(generation);
    const fresh = new Rig();
    await fresh.start();
    await fresh.apply(service(), endpoint(2));
    expect(mended).toEqual(await fresh.listing());
  });

  test("a transaction that failed may be in the kernel: the next one writes everything", async () => {
    const rig = new Rig();
    await rig.start();
    await rig.apply(service(), endpoint(1));
    const before = await rig.listing();
    await rig.stop();
    rig.failNext("answer");
    await rig.start();
    await expect(rig.apply(service(), endpoint(2), endpoint(3))).rejects.toThrow("no answer");
    expect(await rig.listing()).not.toEqual(before);
    await rig.apply(service(), endpoint(1));
    expect(await rig.listing()).toEqual(before);
  });

  test("elements that could not be written are owed to the next check", async () => {
    const rig = new Rig();
    await rig.start();
    await rig.apply(service(), endpoint(1), endpoint(2));
    rig.failNext("netlink");
    await expect(rig.apply(service(), endpoint(1), endpoint(3))).rejects.toThrow("no netlink");
    await rig.check();
    const listing = (await rig.listing()).join("\n");
    expect(listing).toContain("10.1.0.3 . 8080");
    expect(listing).not.toContain("10.1.0.2 . 8080");
  });

  test("after a clean-up checks leave the kernel alone, and a sync writes everything", async () => {
    const rig = new Rig();
    const backend = await rig.start();
    await rig.apply(service(), endpoint(1));
    await backend.cleanup();
    await rig.check();
    expect(await rig.run("list", "tables")).toBe("");
    await rig.apply(service(), endpoint(2));
    expect((await rig.listing()).join("\n")).toContain("10.1.0.2 . 8080");
    expect(rig.warnings).toEqual([]);
  });

  test("the next change is asked for no sooner than --min-sync-period after a sync", async () => {
    const rig = new Rig();
    await rig.start({ minSyncPeriod: "5s" });
    await rig.apply(service(), endpoint(1));
    expect(rig.sleeps).toEqual([]);
    rig.nowMs += 2000;
    await rig.apply(service(), endpoint(2));
    expect(rig.sleeps).toEqual([3000]);
    rig.nowMs += 5000;
    await rig.apply(service(), endpoint(3));
    expect(rig.sleeps).toEqual([3000]);
  });

  test("a --sync-period that is too short is refused with what would be right", async () => {
    const rig = new Rig();
    await expect(rig.start({ syncPeriod: "999ms" })).rejects.toThrow(
      "--sync-period: 999ms is too short; expected 1s or more, such as 30s",
    );
    await rig.start({ syncPeriod: "1s" });
  });

  test("a second instance is refused with the pid of the first", async () => {
    const rig = new Rig();
    await rig.start();
    await expect(rig.start()).rejects.toThrow(`by pid ${process.pid}`);
  });

  test("beside another data plane of the kernel it is refused, by name and pid", async () => {
    const rig = new Rig();
    const lock = rig.namespace.run(() => takeKernelLock("iptables"));
    await expect(rig.start()).rejects.toThrow(
      `the backend "iptables" is run in this network namespace already, by pid ${process.pid}`,
    );
    lock.release();
    await rig.start();
  });

  test("beside a kube-proxy it starts only where it is told to take over", async () => {
    const rig = new Rig();
    rig.kubeProxy = "pid 7";
    await expect(rig.start()).rejects.toThrow("kube-proxy runs here (pid 7)");
    await rig.start({ takeOver: true });
  });

  test("beside a kube-proxy it can be cleaned up", async () => {
    const rig = new Rig();
    rig.kubeProxy = "pid 7";
    const backend = await rig.start({}, {}, { isForCleanup: true });
    await backend.cleanup();
  });

  test("clean-up removes everything and nothing else, and may be repeated", async () => {
    const rig = new Rig();
    await rig.run("add table ip other");
    const backend = await rig.start();
    await rig.apply(service(), endpoint(1));
    await backend.cleanup();
    await backend.cleanup();
    expect(await rig.run("list", "tables")).toBe("table ip other\n");
  });

  test("services on loopback need route_localnet, which is told", async () => {
    const rig = new Rig();
    await rig.start({ nodeportAddresses: "localhost" });
    await rig.apply(service());
    expect(rig.sysctls).toEqual(["net.ipv4.conf.all.route_localnet=1"]);
  });

  test("and is looked at with the rules, since others may alter it", async () => {
    const rig = new Rig();
    await rig.start({ nodeportAddresses: "localhost" });
    await rig.check();
    expect(rig.sysctls).toEqual([]);
    await rig.apply(service());
    await rig.check();
    expect(rig.sysctls).toHaveLength(2);
    expect(rig.warnings).toEqual([
      "net.ipv4.conf.all.route_localnet was altered by others, and is set to 1 again",
    ]);
  });

  test("this node's own connections are led to endpoints once the rules have them", async () => {
    const rig = new Rig();
    await rig.start();
    const place = { ip: "10.96.0.1", port: 80 };
    rig.failNext("nft");
    await expect(rig.apply(service(), endpoint(1))).rejects.toThrow("no nft");
    expect(rig.direct.connect(place)).toBe("rules");
    await rig.check();
    expect(rig.direct.connect(place)).toBe("10.1.0.1:8080");
    const group = (method: string) => groupSchema.parse({ kind: "Group", name: "web", method });
    await rig.apply(service(), endpoint(1), group("round-robin"));
    expect(rig.direct.connect(place)).toBe("rules");
    await rig.apply(service(), endpoint(1), group("random"));
    expect(rig.direct.connect(place)).toBe("10.1.0.1:8080");
    await rig.stop();
    expect(rig.direct.isClosed).toBe(true);
  });

  test("with very many services own connections follow the rules, and never to endpoints that are gone", async () => {
    const rig = new Rig();
    const backend = await rig.start();
    const place = { ip: "10.96.0.1", port: 80 };
    const others = (port: number) =>
      Array.from({ length: MANY_SERVICES }, (_, index) =>
        service({
          name: `other-${index}`,
          clusterIPs: [`10.97.${index >> 8}.${index & 255}`],
          ports: [{ port }],
        }),
      );
    const checks: Promise<void>[] = [];
    let meanwhile: string | undefined;
    await rig.apply(service(), endpoint(1), ...others(80));
    await backend.drain();
    expect(rig.direct.connect(place)).toBe("10.1.0.1:8080");

    rig.onWrite = () => {
      meanwhile ??= `${rig.direct.connect(place)}; ${backend.status().summary.split("; ")[1]}`;
      checks.push(rig.check());
    };
    await rig.apply(service(), endpoint(2), ...others(81));
    await Promise.all(checks);
    await rig.check();
    expect(meanwhile).toBe("rules; no direct connections: they follow the rules, which were many");
    expect(rig.direct.connect(place)).toBe("10.1.0.2:8080");
    expect(rig.direct.calls).toEqual(["writeSlots 1", "setFrontends 1"]);

    rig.onWrite = () => undefined;
    rig.failNext("netlink");
    rig.failNext("nft");
    await expect(rig.apply(service(), endpoint(3), ...others(80))).rejects.toThrow();
    expect(rig.direct.connect(place)).toBe("rules");
    await rig.check();
    expect(rig.direct.connect(place)).toBe("10.1.0.3:8080");
    await backend.cleanup();
    expect(rig.direct.isClosed).toBe(true);
  });

  test("tells how it is, and counts", async () => {
    const rig = new Rig();
    const backend = await rig.start();
    await rig.apply(service(), endpoint(1), endpoint(2));
    expect(backend.status()).toEqual({
      summary:
        "1 addresses, 2 slots, 15 chains; direct connections to 1 addresses; no fast path: rules are tested; none",
      notHonoured: [],
    });
    const metrics = new Map(backend.metrics?.().map(({ name, samples }) => [name, samples]));
    expect(metrics.get("nftables_transactions_total")?.[0]?.value).toBe(1);
    // A node, a service and two endpoints.
    expect(metrics.get("nftables_change_to_kernel_seconds")?.at(-1)?.value).toBe(4);
  });
});
