import { expect, test } from "vitest";
import { CoreError } from "../core/errors.ts";
import { FAMILIES } from "../core/model/address.ts";
import { endpointSchema } from "../core/model/endpoint.ts";
import { serviceSchema } from "../core/model/service.ts";
import type { ServiceEndpoints } from "../core/sinks/fullstate.ts";
import type { DirectCgroups } from "../platform/linux/direct-connect/direct-plane.ts";
import { FakeDirectPlane } from "../platform/linux/direct-connect/fake-direct-plane.fixture.ts";
import type { OpenedDirectPlane } from "../platform/linux/direct-connect/open-direct-plane.ts";
import { DirectKeeper, type DirectLookup, MANY_SERVICES } from "./direct-keeper.ts";
import type { DirectMode } from "./direct-setting.ts";
import { fullStateOf } from "./full-state.fixture.ts";

const PLACE = { ip: "10.96.0.1", port: 80 };
const WEB = ["default/web"];

/** `default/web` with these endpoints. */
async function web(...numbers: readonly number[]) {
  const service = serviceSchema.parse({
    kind: "Service",
    name: "web",
    clusterIPs: [PLACE.ip],
    ports: [{ port: PLACE.port, targetPort: 8080 }],
  });
  const endpoints = numbers.map((number) =>
    endpointSchema.parse({
      kind: "Endpoint",
      name: `web-${number}`,
      group: "web",
      addresses: [`10.1.0.${number}`],
    }),
  );
  return (await fullStateOf([service, ...endpoints])).services.get("default/web");
}

/** All services are this one. */
function are(item: ServiceEndpoints | undefined): DirectLookup {
  return () => item && { item, isRandom: true };
}

async function setUp(mode: DirectMode = "auto", workloads?: string) {
  const opened: DirectCgroups[] = [];
  const planes: FakeDirectPlane[] = [];
  const lines: string[] = [];
  const obstacle = { kind: "obstacle", what: "no cgroups", remedy: "mount them" } as const;
  const world: { isPossible: boolean } = { isPossible: true };
  const open = async (cgroups: DirectCgroups): Promise<OpenedDirectPlane> => {
    opened.push(cgroups);
    if (!world.isPossible) return obstacle;
    const plane = new FakeDirectPlane();
    planes.push(plane);
    return { kind: "open", plane };
  };
  const tell = (_: object, text: string) => void lines.push(text);
  const log = { debug: tell, info: tell, warn: tell, error: tell };
  const families = FAMILIES;
  /** What the status says each time that it says something else. */
  const told: string[] = [];
  const start = async () => {
    const keeper = await DirectKeeper.start({
      mode,
      cgroups: { node: undefined, workloads },
      families,
      open,
      log,
      backend: "nftables",
      onStatus: () => void told.push(keeper.summary()),
    });
    return keeper;
  };
  return { planes, lines, world, opened, start, told };
}

test("follows services, and leaves in between to the rules", async () => {
  const { planes, start } = await setUp();
  const keeper = await start();
  keeper.retreat(WEB, are(await web(1, 2)));
  expect(planes[0]?.connect(PLACE)).toBe("rules");
  await keeper.advance();
  expect(planes[0]?.connect(PLACE, 0)).toBe("10.1.0.1:8080");
  expect(planes[0]?.connect(PLACE, 0.5)).toBe("10.1.0.2:8080");
  expect(keeper.summary()).toBe("direct connections to 1 addresses");

  keeper.retreat(WEB, are(await web(2)));
  expect(planes[0]?.connect(PLACE)).toBe("rules");
  await keeper.advance();
  expect(planes[0]?.connect(PLACE)).toBe("10.1.0.2:8080");
  expect(planes[0]?.slots.size).toBe(1);

  keeper.retreat(WEB, are(undefined));
  await keeper.advance();
  expect(planes[0]?.slots.size).toBe(0);
  const metrics = new Map(keeper.metrics().map(({ name, samples }) => [name, samples[0]?.value]));
  expect(metrics.get("direct_connect_addresses")).toBe(0);
  expect(metrics.get("direct_connects_total")).toBe(3);
});

test("says that workloads are led, too, and whose", async () => {
  const { opened, start } = await setUp("auto", "/sys/fs/cgroup/kubepods");
  const keeper = await start();
  expect(keeper.summary()).toBe("direct connections of this node and its workloads to 0 addresses");
  expect(opened).toEqual([{ node: undefined, workloads: "/sys/fs/cgroup/kubepods" }]);
});

test("who comes to a list that grows meets the old one or the new one", async () => {
  const { planes, start } = await setUp();
  const keeper = await start();
  keeper.retreat(WEB, are(await web(1)));
  await keeper.advance();
  planes[0]?.calls.splice(0);
  keeper.retreat(WEB, are(await web(1, 2)));
  expect(planes[0]?.connect(PLACE)).toBe("10.1.0.1:8080");
  await keeper.advance();
  expect(planes[0]?.calls).toEqual(["writeSlots 1", "setFrontends 1", "removeSlots 1"]);
});

test("after a failure nothing stale is met, it is told once, and the next sync begins anew", async () => {
  const { planes, lines, start } = await setUp();
  const keeper = await start();
  keeper.retreat(WEB, are(await web(1)));
  await keeper.advance();
  const [plane] = planes;
  if (plane === undefined) throw new Error("no plane");
  plane.connect(PLACE);
  keeper.retreat(WEB, are(await web(1, 2)));
  plane.failure = new CoreError("ERR_SYSTEM_CALL", "bpf failed: ENOMEM");
  await keeper.advance();
  expect(plane.isClosed).toBe(true);
  expect(keeper.summary()).toBe("no direct connections: bpf failed: ENOMEM");
  expect(lines).toEqual([
    "direct connections: this node's own connections go by the rules, packet by packet: bpf failed: ENOMEM",
  ]);
  await keeper.advance();
  expect(planes[1]?.connect(PLACE, 0.5)).toBe("10.1.0.2:8080");
  const connects = keeper.metrics().find(({ name }) => name === "direct_connects_total");
  expect(connects?.samples[0]?.value).toBe(2);
});

test("where the programs were taken out, or their cgroup went, they are put in again", async () => {
  const { planes, lines, world, start, told } = await setUp();
  const keeper = await start();
  keeper.retreat(WEB, are(await web(1)));
  await keeper.advance();
  const [plane] = planes;
  if (plane === undefined) throw new Error("no plane");
  plane.connect(PLACE);
  told.splice(0);
  await keeper.advance();
  expect(told).toEqual([]);
  plane.isOrphan = true;
  world.isPossible = false;
  await keeper.advance();
  expect(plane.isClosed).toBe(true);
  expect(keeper.summary()).toBe("no direct connections: no cgroups; mount them");
  expect(lines).toEqual([
    "direct connections: others took the programs out, or they went with their cgroup",
    expect.stringContaining("no cgroups; mount them"),
  ]);
  world.isPossible = true;
  keeper.forgetObstacle();
  await keeper.advance();
  expect(planes[1]?.connect(PLACE)).toBe("10.1.0.1:8080");
  expect(lines.at(-1)).toBe("direct connections: to 1 addresses now");
  expect(told).toEqual([
    "no direct connections: no cgroups; mount them",
    "direct connections to 1 addresses",
  ]);
  const connects = keeper.metrics().find(({ name }) => name === "direct_connects_total");
  expect(connects?.samples[0]?.value).toBe(2);
});

test("where it is not possible that is told once, and tried again now and then", async () => {
  const { planes, lines, world, start } = await setUp();
  world.isPossible = false;
  const keeper = await start();
  keeper.retreat(WEB, are(await web(1)));
  await keeper.advance();
  expect(lines).toHaveLength(1);
  expect(keeper.summary()).toBe("no direct connections: no cgroups; mount them");
  world.isPossible = true;
  await keeper.advance();
  expect(planes).toEqual([]);
  keeper.forgetObstacle();
  await keeper.advance();
  expect(planes[0]?.connect(PLACE)).toBe("10.1.0.1:8080");
});

test("where it has to be possible, a start is refused", async () => {
  const { world, start } = await setUp("on");
  world.isPossible = false;
  await expect(start()).rejects.toMatchObject({
    code: "ERR_NOT_POSSIBLE_HERE",
    message: "--direct-connect on: no cgroups; mount them",
  });
});

test("off opens nothing", async () => {
  const { planes, start } = await setUp("off");
  const keeper = await start();
  keeper.retreat(WEB, are(await web(1)));
  await keeper.advance();
  expect(planes).toEqual([]);
  expect(keeper.metrics()).toEqual([]);
  expect(keeper.summary()).toBe("direct connections off");
});

test("once closed it stays so; withdrawn, it comes back with the next sync", async () => {
  const { planes, start } = await setUp();
  const keeper = await start();
  keeper.retreat(WEB, are(await web(1)));
  await keeper.advance();
  keeper.withdraw();
  expect(planes[0]?.isClosed).toBe(true);
  await keeper.advance();
  expect(planes[1]?.connect(PLACE)).toBe("10.1.0.1:8080");
  keeper.close();
  await keeper.advance();
  expect(planes).toHaveLength(2);
  expect(planes[1]?.isClosed).toBe(true);
});

test("very many services are worked out once the rules are there, and are left to these meanwhile", async () => {
  const { planes, start } = await setUp("on");
  const keeper = await start();
  keeper.retreat(WEB, are(await web(1)));
  await keeper.advance();
  let now = await web(2);
  const others = Array.from({ length: MANY_SERVICES }, (_, index) => `default/other-${index}`);
  keeper.retreat([...WEB, ...others], (key) =>
    key === WEB[0] && now ? { item: now, isRandom: true } : undefined,
  );
  // The next batch has begun, and may be taken back before its sync.
  now = await web(2, 3);
  expect([keeper.isLate, planes[0]?.isClosed]).toEqual([true, true]);
  expect(keeper.summary()).toBe("no direct connections: they follow the rules, which were many");
  await keeper.advance();
  expect(keeper.isLate).toBe(false);
  expect(planes[1]?.calls).toEqual(["writeSlots 1", "setFrontends 1"]);
  expect(planes[1]?.connect(PLACE, 0.9)).toBe("10.1.0.2:8080");
});
