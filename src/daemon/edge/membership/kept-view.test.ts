import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type KeptView, keepView, readView } from "./kept-view.ts";

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "portolan-view-"));
  onTestFinished(() => rmSync(path, { recursive: true }));
  return path;
}

const KEPT: KeptView = {
  announced: ["default/web#0"],
  interest: ["default/api"],
  view: {
    services: [
      {
        ...{ key: "default/api", names: ["api"] },
        addresses: [{ address: "10.30.0.1", policy: "round-robin", instance: -1 }],
        instances: [
          {
            ...{ number: 0, node: "b", addresses: ["10.18.0.66"], weight: 2 },
            ports: [{ protocol: "tcp", port: 80 }],
          },
        ],
      },
    ],
    peers: [
      {
        ...{ node: "b", subnets: ["10.18.0.64/26"], publicKey: "a key", modes: ["secure"] },
        endpoint: { family: "v4", ip: "192.0.2.2", port: 50_103 },
      },
    ],
    ingress: [
      {
        ...{ protocol: "tcp", address: "0.0.0.0", port: 8080, to: "10.30.0.1", toPort: 80 },
        guard: { entries: [{ network: "192.0.2.0/24", access: "allow" }], otherwise: "deny" },
      },
    ],
  },
};

test("what is known of others is the same when it is read again", async () => {
  const path = folder();
  await keepView(path, KEPT);
  expect(await readView(path)).toEqual(KEPT);
});

test("what is no view is passed over: the manager tells it all again", async () => {
  const path = folder();
  expect(await readView(path)).toBeUndefined();
  for (const text of ["", "{", '{"announced":[]}']) {
    writeFileSync(join(path, "view.json"), text);
    expect(await readView(path)).toBeUndefined();
  }
});
