import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import * as z from "zod";
import { requires } from "../support/requires.ts";
import { onTheFake, stepsOfStates } from "./expected-states.ts";
import { makeManyCalls } from "./make-many-calls.ts";
import { Wine, windowsPath } from "./wine.ts";

const CALLS = 10_000;
const OPENING_MS = 240_000;
const CLI = "dist/cli/main.js";
const REPORT = "deploy/windows/hcn-report.mjs";

/** What others made before. */
const OTHERS = [
  [
    "Network",
    {
      ID: "0f5f6e1c-0f5e-4d5c-9f0a-2b7e8f9d1c11",
      Name: "cbr0",
      Type: "L2Bridge",
      Ipams: [{ Subnets: [{ IpAddressPrefix: "10.244.9.0/24" }] }],
    },
  ],
  ["Endpoint", { ID: "22222222-0000-4000-8000-000000000001", Name: "pod" }],
  ["LoadBalancer", { ID: "22222222-0000-4000-8000-000000000002", FrontendVIPs: ["10.96.9.9"] }],
] as const;

const outSchema = z.object({
  states: z.array(z.array(z.string())),
  second: z.string(),
  refusal: z.string(),
  notices: z.array(z.string()),
  turns: z.number(),
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
    const steps = stepsOfStates();
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
    expect(out.notices).toEqual(["network-created", "service-gone"]);
    // A call that blocks the loop leaves it at one.
    expect(out.turns).toBeGreaterThan(10);
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

  test("portolan run, status and cleanup: what an earlier run left is found, and others' is not touched", {
    timeout: OPENING_MS,
  }, async () => {
    const storeFile = join(wine.folder, "store");
    const state = windowsPath(join(wine.folder, "state"));
    const environment = { STAND_IN_STORE: windowsPath(storeFile) };
    const others = OTHERS.map(([kind, fields]) => `${kind} ${JSON.stringify(fields)}`);
    writeFileSync(storeFile, others.map((line) => `${line}\n`).join(""));
    const stored = () =>
      readFileSync(storeFile, "utf8")
        .split("\n")
        .filter((line) => /^[A-Z]/.test(line));
    const portolan = (...args: readonly string[]) => wine.node([CLI, ...args], { environment });
    const from = ["run", "--from", "file:examples/kubernetes.yaml", "--node", "elsewhere"];
    const to = ["--network-name", "cbr0"];

    const { child, result } = wine.start([CLI, ...from, "--to", "auto", ...to, "--state", state], {
      environment,
      limitMs: OPENING_MS,
    });
    onTestFinished(async () => {
      child.kill("SIGKILL");
      await result;
    });
    const waiting = { timeout: 120_000, interval: 100 };
    await vi.waitFor(
      () => expect(stored().join()).toContain('"FrontendVIPs":["10.96.20.1"]'),
      waiting,
    );
    const status = await vi.waitFor(async () => {
      const answer = await portolan("status", "--state", state);
      expect(answer).toMatchObject({ exitCode: 0 });
      return answer;
    }, waiting);
    expect(status.stdout).toMatch(
      /\d+ load balancers, \d+ remote endpoints, on cbr0 \(L2Bridge, HNS 15\.5\)/,
    );
    expect(stored().filter((line) => line.includes("10.96.20.1"))).toHaveLength(1);
    const early = await portolan("cleanup", "--to", "hcn");
    expect([early.exitCode, early.stderr]).toEqual([
      4,
      expect.stringMatching(/on this machine already, by pid \d+/),
    ]);
    const second = await portolan(...from, "--to", "print", "--state", state);
    expect(second.stderr).toMatch(/is that of the instance with pid \d+/);

    child.kill("SIGKILL");
    await result;
    const dryRun = await portolan(...from, "--to", "hcn", ...to, "--dry-run");
    expect(dryRun.stdout).toContain("hcn would execute nothing");
    const late = await portolan("status", "--state", state);
    expect(late.exitCode).toBe(4);
    const cleanup = await portolan("cleanup", "--to", "hcn");
    expect([cleanup.stderr, cleanup.stdout.trim()]).toEqual(["", "hcn: nothing is left"]);
    expect(stored().sort()).toEqual(others.toSorted());
  });

  test("the report that owners of a Windows are asked for says what works", {
    timeout: OPENING_MS,
  }, async () => {
    const store = windowsPath(join(wine.folder, "report-store"));
    const folder = join(wine.folder, "report");
    const { stdout, stderr } = await wine.node([REPORT, "cbr0", windowsPath(folder)], {
      environment: { STAND_IN_STORE: store },
    });
    expect(stderr).toBe("");
    const told = stdout.split(/\r?\n/).filter((line) => line.startsWith("yes"));
    // Wine has no PowerShell that could list what HNS holds.
    expect(told).toEqual(
      expect.arrayContaining([
        "yes  Portolan runs",
        "yes  the network can be read",
        "yes  a sync succeeds",
        "yes  a second sync changes nothing",
        "yes  cleanup succeeds",
      ]),
    );
    expect(readFileSync(join(folder, "before.txt"), "utf8")).toContain("HcnCreateLoadBalancer");
    expect(readFileSync(join(folder, "cleanup.txt"), "utf8")).toContain("nothing is left");
  });
});
