import { expect, test } from "vitest";
import type { Nft } from "../../../platform/linux/nft/nft.ts";
import { RedirectRules } from "./redirect-rules.ts";
import { NO_ELEMENTS } from "./redirect-table.ts";

test("a table that others made dormant is written anew, once", async () => {
  const scripts: string[] = [];
  let flags: readonly string[] = [];
  const nft: Nft = {
    run: async (script) => {
      scripts.push(script);
      flags = [];
    },
    check: async () => undefined,
    list: async () => ({ flags, containers: new Map(), chains: new Map() }),
    outline: async () => undefined,
    listElements: async () => [],
    version: async () => "1.0.6",
  };
  const none = () => undefined;
  const warnings: string[] = [];
  const log = {
    debug: none,
    info: none,
    warn: (_: object, text: string) => void warnings.push(text),
    error: none,
  };
  let generation = 1;
  const rules = new RedirectRules({ nft, generation: { read: async () => generation }, log });
  await rules.apply(NO_ELEMENTS);
  await rules.check();
  expect(scripts).toHaveLength(1);
  flags = ["dormant"];
  generation += 1;
  await rules.check();
  await rules.check();
  expect(scripts).toHaveLength(2);
  expect(warnings).toEqual(["others changed the redirect's rules: they are written anew"]);
});
