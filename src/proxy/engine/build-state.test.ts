import { expect, test } from "vitest";
import { parseKind } from "../../core/model/parse.ts";
import { buildState } from "./build-state.ts";

test("of a name only addresses of the families that are wanted are used", () => {
  const { healthCheck } = parseKind("Group", { name: "g" });
  const named = { host: "a.example", port: 80, weight: 1 };
  const state = buildState(
    {
      groups: [
        {
          key: "g",
          method: "round-robin",
          healthCheck,
          slowStartMs: 0,
          servers: [
            { key: "all", ...named },
            { key: "v4", ...named, families: ["v4"] },
            { key: "v6", ...named, families: ["v6"] },
          ],
        },
      ],
      upstreams: [],
      listeners: [],
      certificates: [],
    },
    {
      rowOf: () => 0,
      addressesOf: () => ["192.0.2.1", "2001:db8::1"],
      workersOf: () => [],
    },
  );
  const servers = [...(state.groups.get("g")?.servers ?? [])];
  expect(servers.map(([key, { spec }]) => [key, spec.addresses])).toEqual([
    ["all", ["192.0.2.1", "2001:db8::1"]],
    ["v4", ["192.0.2.1"]],
    ["v6", ["2001:db8::1"]],
  ]);
});
