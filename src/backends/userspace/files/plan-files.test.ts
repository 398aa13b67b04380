import { describe, expect, test } from "vitest";
import { type Listener, listenerSchema } from "../../../core/model/listener.ts";
import { ipAddress } from "../../../platform/socket-address.ts";
import type { NodeFacts } from "../node-facts.ts";
import { NO_FILES } from "./listener-files.ts";
import { planFiles } from "./plan-files.ts";

const FACTS: NodeFacts = {
  nodeName: "node-a",
  machineAddresses: new Set(["192.0.2.1"]),
  nodePortAddresses: "primary",
};
const USERS = [{ name: "ann", password: "pw" }];
const HOSTS = new Map([["a.example", ["192.0.2.7"]]]);

function listener(more: Readonly<Record<string, unknown>>): Listener {
  const place = { address: "127.0.0.1", port: 53, service: "default/web" };
  return listenerSchema.parse({ kind: "Listener", name: "front", ...place, ...more });
}

describe("users", () => {
  const guarded = listener({ mode: "socks5", usersFile: "/users" });
  const planOf = (value: typeof USERS | undefined, problem: string) =>
    planFiles(guarded, { ...NO_FILES, users: new Map([["/users", { value, problem }]]) }, FACTS);

  test("of the file", () => {
    expect(planOf(USERS, "")).toEqual({ config: { users: USERS, dns: undefined }, notes: [] });
  });

  test("none that could ever be read keeps the listener closed", () => {
    expect(planOf(undefined, "ENOENT")).toMatchObject({ obstacle: "usersFile /users: ENOENT" });
  });

  test("what can not be read any more leaves those before, and is told", () => {
    expect(planOf(USERS, "line 2: wrong")).toMatchObject({
      config: { users: USERS },
      notes: ["usersFile /users: line 2: wrong; what it said before is kept"],
    });
  });

  test("a listener without such a file asks nobody", () => {
    expect(planFiles(listener({ mode: "socks5" }), NO_FILES, FACTS).config.users).toEqual([]);
  });
});

describe("names", () => {
  const files = {
    ...NO_FILES,
    hosts: new Map([["/hosts", { value: HOSTS, problem: "" }]]),
    resolvers: [ipAddress("127.0.0.1", 53), ipAddress("192.0.2.53", 53)],
  };
  const planOf = (more: object) => planFiles(listener({ mode: "dns", ...more }), files, FACTS);

  test("hosts of the file; resolvers of the machine, but never the listener itself", () => {
    expect(planOf({ hostsFile: "/hosts", dnsTtlSeconds: 30 }).config.dns).toEqual({
      hosts: HOSTS,
      forwardTo: [ipAddress("192.0.2.53", 53)],
      ttlSeconds: 30,
    });
    expect(planOf({ address: "0.0.0.0" }).config.dns?.forwardTo).toHaveLength(1);
    expect(planOf({ port: 5353 }).config.dns?.forwardTo).toHaveLength(2);
  });

  test("resolvers that the listener names", () => {
    expect(planOf({ forwardTo: ["192.0.2.9", "[fd00::1]:5353"] }).config.dns?.forwardTo).toEqual([
      ipAddress("192.0.2.9", 53),
      ipAddress("fd00::1", 5353),
    ]);
  });

  test.each([[{ hostsFile: "/none" }, "hostsFile /none: not read yet"]])(
    "%o keeps the listener closed",
    (more, obstacle) => {
      expect(planOf(more)).toMatchObject({ obstacle });
    },
  );

  test("others without a resolver are told", () => {
    const plan = planOf({ allowOthers: true, forwardTo: ["127.0.0.1"] });
    expect(plan.notes).toEqual(["there is no resolver to forward to"]);
  });
});
