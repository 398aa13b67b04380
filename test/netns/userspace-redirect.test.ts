import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { RedirectRules } from "../../src/backends/userspace/redirect/redirect-rules.ts";
import type { RedirectElements } from "../../src/backends/userspace/redirect/redirect-table.ts";
import type { Log } from "../../src/core/log.ts";
import { type Exec, systemExec } from "../../src/platform/linux/exec.ts";
import { createNft } from "../../src/platform/linux/nft/nft.ts";
import {
  type NftGeneration,
  openNftGeneration,
} from "../../src/platform/linux/nft/nft-generation.ts";
import { requires } from "../support/requires.ts";
import { NamespaceNetwork } from "./namespace-network.ts";

const led = (ip: string, to: string) => ({
  container: "led",
  key: `${ip} . tcp . 80`,
  value: `${to} . 26000`,
  comment: "default/web",
});

const FIRST: RedirectElements = {
  v4: [{ container: "owned", key: "10.96.0.10" }, led("10.96.0.10", "192.168.100.1")],
  v6: [led("fd00:96::10", "fd00:100::1")],
};
const SECOND: RedirectElements = {
  v4: [
    ...FIRST.v4,
    { container: "rejected", key: "10.96.0.11 . udp . 53", comment: "default/dns" },
  ],
  v6: [],
};

const TABLE = "portolan_userspace";

describe("the rules that redirect", requires("linux", "root", "ip", "nft"), () => {
  let network: NamespaceNetwork;
  let generation: NftGeneration;
  let rules: RedirectRules;
  let open: () => RedirectRules;
  let warnings: string[];
  const nft = (...args: readonly string[]): string => network.exec("node-a", "nft", args);
  const listing = (): string => nft("list", "ruleset");

  beforeEach(() => {
    network = NamespaceNetwork.open();
    const exec: Exec = {
      run: (...args) => network.inside("node-a", () => systemExec.run(...args)),
    };
    generation = network.inside("node-a", openNftGeneration);
    warnings = [];
    const log: Log = {
      debug: () => undefined,
      info: () => undefined,
      warn: (_, message) => void warnings.push(message),
      error: () => undefined,
    };
    open = () => new RedirectRules({ nft: createNft(exec), generation, log });
    rules = open();
  });

  afterEach(() => {
    generation.close();
    network.close();
  });

  test("are one transaction of what changed, and none where nothing did", async () => {
    await rules.apply(FIRST);
    const before = await generation.read();
    await rules.apply(FIRST);
    expect(await generation.read()).toBe(before);
    await rules.apply(SECOND);
    expect(await generation.read()).toBe(before + 1);
    expect(listing()).toContain('10.96.0.11 . udp . 53 comment "default/dns"');
    expect(listing()).not.toContain("fd00:96::10");
    await rules.check();
    expect(await generation.read()).toBe(before + 1);
    expect(warnings).toEqual([]);
  });

  test("take the place of what an earlier run left", async () => {
    await rules.apply(SECOND);
    await open().apply(FIRST);
    expect(listing()).not.toContain("10.96.0.11");
    expect(listing()).toContain("fd00:96::10");
  });

  test.each([
    ["an element is gone", ["delete", "element", "ip", TABLE, "owned", "{ 10.96.0.10 }"]],
    ["an element is more", ["add", "element", "ip", TABLE, "owned", "{ 10.96.0.99 }"]],
    ["a rule is more", ["add", "rule", "ip6", TABLE, "lead", "counter"]],
    ["a chain is empty", ["flush", "chain", "ip", TABLE, "refuse"]],
    ["a table is gone", ["delete", "table", "ip", TABLE]],
  ])("are put right where %s", async (_, change) => {
    await rules.apply(FIRST);
    const right = listing();
    nft(...change);
    expect(listing()).not.toBe(right);
    await rules.check();
    expect(listing()).toBe(right);
    expect(warnings).toHaveLength(1);
  });

  test("are written anew where a change meets something else than was written", async () => {
    await rules.apply(FIRST);
    nft("delete", "table", "ip6", TABLE);
    await rules.apply(SECOND);
    expect(listing()).toContain('10.96.0.11 . udp . 53 comment "default/dns"');
    expect(listing()).toContain(`table ip6 ${TABLE}`);
    expect(warnings).toHaveLength(1);
  });

  test("are removed, and nothing else is", async () => {
    nft("add", "table", "ip", "of_others");
    await rules.apply(FIRST);
    await rules.remove();
    await rules.remove();
    expect(nft("list", "tables").trim()).toBe("table ip of_others");
  });
});
