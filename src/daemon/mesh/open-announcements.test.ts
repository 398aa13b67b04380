import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { GlobalStore } from "../../core/store/global-store.ts";
import { openAnnouncements } from "./open-announcements.ts";

const REQUEST = {
  id: "announcer-1",
  service: "default/shop",
  servicePort: "",
  zone: "",
  node: "n1",
  address: "10.0.0.1",
  port: 80,
  weight: 10,
  ttlMs: 60_000,
};

function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "portolan-announced-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, "state");
}

async function open(folder: string) {
  const warnings: string[] = [];
  const silent = (): void => undefined;
  const log = {
    debug: silent,
    info: silent,
    error: silent,
    warn: (_: object, message: string) => void warnings.push(message),
  };
  const store = new GlobalStore();
  const opened = await openAnnouncements(store, log, folder);
  onTestFinished(() => opened.close());
  const names = () =>
    (store.state().groups.get("default/shop")?.endpoints ?? []).map(({ name }) => name);
  return { ...opened, names, warnings };
}

test("what was announced is there after a restart, in a file for its owner only", async () => {
  const folder = makeFolder();
  const first = await open(folder);
  first.announcements.announce(REQUEST);
  await first.close();
  expect(statSync(join(folder, "announced.json")).mode & 0o777).toBe(0o600);
  const second = await open(folder);
  expect(second.names()).toEqual(["10.0.0.1:80"]);
  const { id, service, address, port } = REQUEST;
  expect(second.announcements.withdraw({ id, service, address, port })).toBe(true);
  await second.close();
  expect((await open(folder)).names()).toEqual([]);
});

test.each(["", "{", '{"version":2,"announced":[]}', '{"version":1,"announced":[{"port":0}]}'])(
  "a file that holds %j is told, and begun anew",
  async (text) => {
    const folder = makeFolder();
    await (await open(folder)).close();
    const path = join(folder, "announced.json");
    writeFileSync(path, text);
    const { announcements, names, warnings, close } = await open(folder);
    expect(names()).toEqual([]);
    expect(warnings).toEqual([expect.stringContaining("not read")]);
    announcements.announce(REQUEST);
    await close();
    expect(readFileSync(path, "utf8")).toContain("10.0.0.1");
  },
);
