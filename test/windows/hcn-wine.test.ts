import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import * as z from "zod";
import { createHcnBackend } from "../../src/backends/hcn/hcn-backend.ts";
import {
  endpoint,
  NETWORK_ID,
  NODE,
  NODE_NAME,
  networkJson,
  optionsOf,
  service,
  TestWorld,
  testContext,
} from "../../src/backends/hcn/hcn-rig.fixture.ts";
import type { ModelObject } from "../../src/core/model/object.ts";
import { GlobalStore } from "../../src/core/store/global-store.ts";
import { NodeWatcher } from "../../src/core/view/node-watcher.ts";
import type { Op } from "../../src/core/view/ops.ts";
import { FakeHcn } from "../../src/platform/windows/fake.ts";
import { requires } from "../support/requires.ts";
import { makeManyCalls } from "./make-many-calls.ts";
import { Wine, windowsPath } from "./wine.ts";

const CALLS = 10_000;
const OPENING_MS = 120_000;
const CLI = "dist/cli/main.js";

const web = service("web", {
  clusterIPs: ["10.96.0.1", "fd96::1"],
  externalIPs: ["198.51.100.1"],
  affinitySeconds: 60,
  ports: [{ port: 80, nodePort: 30080, targetPort: 8080 }],
});
const shop = service("shop", { clusterIPs: ["10.96.0.2"] });
const STATES: readonly (readonly ModelObject[])[] = [
  [
    web,
    shop,
    endpoint("web", "10.1.2.1"),
    endpoint("web", "fd02::1"),
    endpoint("shop", "10.1.2.1"),
  ],
  [
    web,
    shop,
    endpoint("web", "10.1.2.2"),
    endpoint("web", "fd02::1"),
    endpoint("shop", "10.1.2.1"),
  ],
  [shop, endpoint("shop", "10.1.2.3")],
];

/** What a node is sent, state by state. */
function stepsOf(states: typeof STATES): readonly (readonly Op[])[] {
  const store = new GlobalStore();
  store.markSynced("test");
  const watcher = new NodeWatcher(store, NODE_NAME, ["nodes"]);
  return states.map((objects) => {
    store.transact("test", (transaction) => transaction.replaceAll([NODE, ...objects]));
    return watcher.poll() ?? [];
  });
}

/** What the fake holds after each step. */
async function onTheFake(
  steps: readonly (readonly Op[])[],
): Promise<readonly (readonly unknown[])[]> {
  const fake = new FakeHcn();
  fake.seed("Network", NETWORK_ID, networkJson());
  const { sink } = await createHcnBackend(optionsOf(), testContext(), new TestWorld(fake));
  const states: (readonly unknown[])[] = [];
  for (const ops of steps) {
    for (const op of ops) {
      if (op.op === "reset") sink.reset();
      else await sink.send(op);
    }
    const all = [...fake.all("Endpoint").values(), ...fake.all("LoadBalancer").values()];
    states.push(all.sort().map((json) => JSON.parse(json)));
  }
  return states;
}

const outSchema = z.object({
  states: z.array(z.array(z.string())),
  second: z.string(),
  refusal: z.string(),
  notices: z.array(z.string()),
  handles: z.number(),
  left: z.array(z.string()),
});

describe("on Windows, as Wine has it", requires("linux", "wine", "x86_64-w64-mingw32-gcc"), () => {
  let wine: Wine;
  beforeAll(async () => {
    wine = await Wine.open();
  }, OPENING_MS);
  afterAll(() => wine?.close());

  test("the real calls end in the same objects as the fake, and tell what they hear", {
    timeout: OPENING_MS,
  }, async () => {
    const steps = stepsOf(STATES);
    const stepsFile = join(wine.folder, "steps.json");
    const outFile = join(wine.folder, "out.json");
    writeFileSync(stepsFile, JSON.stringify(steps));
    const script = windowsPath(join(import.meta.dirname, "sync-under-wine.mjs"));
    const args = [script, windowsPath(stepsFile), windowsPath(outFile)];
    const { exitCode, stderr } = await wine.node(args);
    expect([stderr, exitCode]).toEqual(["", 0]);
    const out = outSchema.parse(JSON.parse(readFileSync(outFile, "utf8")));
    expect(out.states.map((state) => state.map((json) => JSON.parse(json)))).toEqual(
      await onTheFake(steps),
    );
    expect(out.second).toMatch(/is run on this machine already, by pid \d+/);
    expect(out.refusal).toMatch(
      /HcnOpenLoadBalancer of .* failed: 0x803b0008 \(not-found\): stand-in/,
    );
    expect(out.notices).toEqual(["network-created"]);
    expect(out.handles).toBe(0);
    expect(out.left).toEqual([]);
  });

  test("10,000 calls leave no memory, no handle and no text behind", {
    timeout: OPENING_MS,
  }, async () => {
    await makeManyCalls(wine, CALLS, OPENING_MS);
  });

  test.each([
    ["check", "examples/kubernetes.yaml"],
    ["view", "examples/kubernetes.yaml", "--node", "worker-1"],
    [
      "explain",
      "--from",
      "file:examples/kubernetes.yaml",
      "--node",
      "worker-2",
      "--src",
      "10.244.2.99",
      "--dst",
      "10.96.20.1:80",
    ],
  ])("portolan %s says what it says elsewhere", { timeout: OPENING_MS }, async (...args) => {
    const here = execFileSync(process.execPath, [CLI, ...args], { encoding: "utf8" });
    const { exitCode, stdout, stderr } = await wine.node([CLI, ...args]);
    expect([stderr, exitCode, stdout.replaceAll("\r\n", "\n")]).toEqual(["", 0, here]);
  });

  test("portolan version says where it is", { timeout: OPENING_MS }, async () => {
    const { stdout } = await wine.node([CLI, "version"]);
    expect(stdout).toMatch(/^portolan \S+ \(node v22\S+ win32 x64\)/);
  });

  test("portolan run --to hcn programs the services of a file", {
    timeout: OPENING_MS,
  }, async () => {
    const store = join(wine.folder, "store");
    const args = [
      "run",
      "--from",
      "file:examples/kubernetes.yaml",
      "--to",
      "hcn",
      "--network-name",
      "cbr0",
      "--node",
      "elsewhere",
    ];
    const { child, result } = wine.start([CLI, ...args], {
      environment: { STAND_IN_STORE: windowsPath(store) },
    });
    onTestFinished(async () => {
      child.kill("SIGKILL");
      await result;
    });
    const balancers = await vi.waitFor(
      () => {
        const lines = existsSync(store) ? readFileSync(store, "utf8").split("\n") : [];
        const found = lines.filter((line) => line.startsWith("LoadBalancer "));
        expect(found.length).toBeGreaterThan(0);
        return found;
      },
      { timeout: 60_000, interval: 100 },
    );
    expect(balancers.join()).toContain("10.96.20.1");
  });
});
