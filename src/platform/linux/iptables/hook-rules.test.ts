import { expect, test } from "vitest";
import type { Exec } from "../exec.ts";
import { listHookRules } from "./hook-rules.ts";
import { restoreCommand } from "./iptables-tool.ts";

const FORWARD = { family: "v4", mode: "legacy", table: "filter", name: "FORWARD" } as const;

test("tells the rules of the chain, one that only counts as well", async () => {
  const stdout = "-P FORWARD ACCEPT\n-A FORWARD\n-A FORWARD -j DROP\n-A FORWARDED -j ACCEPT\n";
  const exec: Exec = { run: async () => ({ exitCode: 0, stdout, stderr: "" }) };
  expect(await listHookRules(FORWARD, exec)).toEqual(["", "-j DROP"]);
});

test("waits for who holds the lock as long as one who writes", async () => {
  const calls: (readonly string[])[] = [];
  const exec: Exec = {
    run: async (program, args) => {
      calls.push([program, ...args]);
      return { exitCode: 0, stdout: "", stderr: "" };
    },
  };
  await listHookRules(FORWARD, exec);
  expect(calls).toEqual([["iptables-legacy", "-w", "30", "-t", "filter", "-S", "FORWARD"]]);
  expect(restoreCommand("v4", "legacy")).toEqual(expect.arrayContaining(["-w", "30"]));
});
