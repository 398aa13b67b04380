import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type Service, serviceSchema } from "../../../src/core/model/service.ts";
import { HOSTS } from "./definition.ts";
import { planHosts } from "./hosts-backend.ts";

function named(name: string, ...clusterIPs: readonly string[]): Service {
  return serviceSchema.parse({ kind: "Service", name, clusterIPs });
}

test("plans a line for each address, in order", () => {
  const services = [named("web", "10.0.0.2", "fd00::2"), named("db", "10.0.0.1")];
  const states = services.map((service) => ({
    service: { key: `default/${service.name}`, service, usable: [] },
    endpoints: [],
  }));
  expect(planHosts(states)).toBe(
    "10.0.0.1 db.default\n10.0.0.2 web.default\nfd00::2 web.default\n",
  );
});

test("writes at each sync and leaves nothing behind after clean-up", async () => {
  const folder = await mkdtemp(join(tmpdir(), "portolan-hosts-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const hostsFile = join(folder, "hosts");
  const silent = (): void => undefined;
  const { sink, cleanup } = await HOSTS.create(
    { hostsFile },
    {
      nodeName: "node-a",
      log: { debug: silent, info: silent, warn: silent, error: silent },
      stdout: process.stdout,
    },
  );
  const value = { key: "default/web", service: named("web", "10.0.0.2"), usable: [] };

  sink.reset();
  await sink.send({ op: "set", set: "services", path: value.key, value });
  await sink.send({ op: "sync" });
  expect(await readFile(hostsFile, "utf8")).toBe("10.0.0.2 web.default\n");

  await sink.send({ op: "delete", set: "services", path: value.key });
  await sink.send({ op: "sync" });
  expect(await readFile(hostsFile, "utf8")).toBe("");

  await cleanup();
  await cleanup();
  await expect(readFile(hostsFile, "utf8")).rejects.toThrow("ENOENT");
});
