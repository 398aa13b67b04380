import { expect, test } from "vitest";
import { groupSchema } from "../../core/model/group.ts";
import { endpoint, listener, plan, service } from "./plan-engine.fixture.ts";

const BY_KCP = { annotations: { "portolan/transport": "kcp" } };
const GROUP = groupSchema.parse({ kind: "Group", name: "web", ...BY_KCP });

test("a group and a listener by KCP are told to the engine as such", async () => {
  const objects = [service({}), GROUP, endpoint("a"), listener(BY_KCP)];
  const { config, notHonoured } = await plan(objects, { hasTunnels: true });
  expect(config.groups.map(({ transport }) => transport)).toEqual(["kcp"]);
  expect(config.listeners.map(({ transport }) => transport)).toEqual(["kcp"]);
  expect(notHonoured).toEqual([]);
});

test("without a secret nothing is reached or served, and it is told", async () => {
  const [reached, served] = [
    await plan([service({}), GROUP, endpoint("a"), listener()]),
    await plan([service({}), endpoint("a"), listener(BY_KCP)]),
  ];
  expect(reached.config.groups.map(({ servers }) => servers)).toEqual([[]]);
  expect(reached.notHonoured.join("\n")).toContain("PORTOLAN_KCPTUN_SECRET");
  expect(served.config.listeners).toEqual([]);
  expect(served.notHonoured.join("\n")).toContain("PORTOLAN_KCPTUN_SECRET");
});
