import { expect, test } from "vitest";
import { FAMILIES } from "../core/model/address.ts";
import { endpointSchema } from "../core/model/endpoint.ts";
import { serviceSchema } from "../core/model/service.ts";
import type { DirectMode } from "./direct-setting.ts";
import { fullStateOf } from "./full-state.fixture.ts";
import { type ProbeDirect, previewDirect } from "./preview-direct.ts";

async function preview(
  mode: DirectMode,
  probe: ProbeDirect,
  workloads?: string,
): Promise<readonly string[]> {
  const clusterIPs = ["10.96.0.1", "fd00:96::1"];
  const service = serviceSchema.parse({
    kind: "Service",
    name: "web",
    clusterIPs,
    ports: [{ port: 80, targetPort: 80 }],
  });
  const endpoints = [1, 2].map((number) =>
    endpointSchema.parse({
      kind: "Endpoint",
      name: `web-${number}`,
      group: "web",
      addresses: [`10.1.0.${number}`],
      weight: number,
    }),
  );
  const { services } = await fullStateOf([service, ...endpoints]);
  const isRandom = () => true;
  return previewDirect({
    mode,
    cgroups: { node: undefined, workloads },
    families: FAMILIES,
    services,
    isRandom,
    probe,
  });
}

test("says who would be led where, by weight", async () => {
  expect(await preview("auto", async () => undefined)).toEqual([
    "would lead this node's own TCP connections:",
    "  10.96.0.1:80 to 10.1.0.1:80 (33.3 %), 10.1.0.2:80 (66.7 %)",
  ]);
});

test("says that workloads would be led, too, where they are named", async () => {
  const [first] = await preview("auto", async () => undefined, "/sys/fs/cgroup/kubepods");
  expect(first).toBe(
    "would lead this node's own TCP connections, and of workloads in /sys/fs/cgroup/kubepods:",
  );
});

test("says why nobody would, and nothing where it is off", async () => {
  const obstacle = { what: "no cgroups", remedy: "mount them" };
  expect(await preview("auto", async () => obstacle)).toEqual([
    "no direct connections: no cgroups; mount them",
  ]);
  expect(await preview("off", async () => obstacle)).toEqual([]);
});
