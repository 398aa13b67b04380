import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { expect, onTestFinished, test, vi } from "vitest";
import { endpointSchema } from "../../../src/core/model/endpoint.ts";
import type { ModelObject } from "../../../src/core/model/object.ts";
import { serviceSchema } from "../../../src/core/model/service.ts";
import { TOPOLOGY } from "../../../src/core/route/scenarios/topology.ts";
import { endpoint, service } from "../../netns/play.ts";
import { Machine } from "./machine.ts";

const { port, targetPort, clusterIP, outside } = TOPOLOGY;
const COUNT = 600;
const MAX_TRIES = 10;

function manyServices(): readonly ModelObject[] {
  return Array.from({ length: COUNT }, (_, index) => [
    serviceSchema.parse({
      kind: "Service",
      name: `s${index}`,
      clusterIPs: [`10.97.${index >> 8}.${index & 255}`],
      ports: [{ name: "main", port, targetPort }],
    }),
    endpointSchema.parse({
      kind: "Endpoint",
      name: `e${index}`,
      group: `s${index}`,
      addresses: [`10.244.2.${index % 250}`],
      node: "node-b",
    }),
  ]).flat();
}

/** Virtual and real servers that the kernel holds. */
function entriesOf(machine: Machine): number {
  const listed = machine.stage.network.inside("node-a", () =>
    readFileSync("/proc/thread-self/net/ip_vs", "utf8"),
  );
  return listed.match(/^(TCP| {2}-> [0-9A-F])/gm)?.length ?? 0;
}

/** Whether it was killed when a part of the services was there. */
async function isKilledInTheMiddle(
  machine: Machine,
  objects: readonly ModelObject[],
): Promise<boolean> {
  await machine.apply();
  expect(entriesOf(machine)).toBe(0);
  const ended = machine.apply(...objects).then(
    () => "done",
    (error: unknown) => String(error),
  );
  await vi.waitFor(() => expect(entriesOf(machine)).toBeGreaterThan(0), {
    interval: 1,
    timeout: 60_000,
  });
  await machine.restart();
  const end = await ended;
  if (end !== "done") expect(end).toContain("process ended");
  const left = entriesOf(machine);
  expect(left).toBeGreaterThan(0);
  return end !== "done" && left < 2 * COUNT;
}

test("a process that is killed in the middle of a sync leaves a part; the next one makes it whole", async () => {
  const machine = await Machine.open();
  const objects = manyServices();
  await machine.apply(...objects);
  const whole = machine.state();
  expect(entriesOf(machine)).toBe(2 * COUNT);
  // On a busy machine the whole sync may be over before this process has its turn to kill.
  let tries = 1;
  while (!(await isKilledInTheMiddle(machine, objects))) {
    expect(tries).toBeLessThan(MAX_TRIES);
    tries += 1;
  }
  await machine.apply(...objects);
  expect(machine.state()).toBe(whole);
});

test("a scheduler whose module is not there is named, and other services are served", async () => {
  const machine = await Machine.open();
  // As on a machine where this module is not installed.
  const file = execFileSync("modinfo", ["-n", "ip_vs_nq"], { encoding: "utf8" }).trim();
  execFileSync("sh", ["-c", "rmmod ip_vs_nq 2>/dev/null; mount --bind /dev/null $0", file]);
  onTestFinished(() => void execFileSync("umount", [file]));
  const bad = serviceSchema.parse({
    kind: "Service",
    name: "bad",
    annotations: { "portolan/ipvs-scheduler": "nq" },
    clusterIPs: ["10.96.0.66"],
    ports: [{ name: "main", port, targetPort }],
  });
  const ends = [endpoint("web-a"), endpoint("web-a", { name: "of-bad", group: "bad" })];
  await expect(machine.apply(bad, service(), ...ends)).rejects.toThrow(
    /default\/bad: .*no scheduler nq \(module ip_vs_nq\); modprobe ip_vs_nq/,
  );
  const call = { party: "outside", protocol: "TCP", from: outside.v4, port } as const;
  const answers = await machine.stage.call([{ ...call, to: clusterIP.v4 }]);
  expect(answers.map(({ kind }) => kind)).toEqual(["answered"]);
  // What was refused does not fail what comes after it.
  await machine.apply(bad, service(), ...ends, endpoint("web-b"));
  expect(machine.weights().filter((line) => line.includes(clusterIP.v4))).toHaveLength(2);
});
