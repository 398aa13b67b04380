import { createPrivateKey, generateKeyPairSync, X509Certificate } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type IdentityFiles, identityFiles } from "./identity-files.ts";
import { IdentityKeeper, type IdentityState } from "./identity-keeper.ts";
import { type RunningManager, startRunningManager } from "./running-manager.fixture.ts";
import { startSilence } from "./silence.fixture.ts";

const SERVICE = "default/shop";
const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "portolan-identity-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** One that sleeps until it is told how long was enough. */
class Kept {
  readonly states: IdentityState[] = [];
  readonly sleeps: number[] = [];
  readonly files: IdentityFiles;
  readonly tokenFile: string;
  readonly keeper: IdentityKeeper;
  /** What its clock is ahead of that of the manager. */
  aheadMs: number;
  #wake: () => void = () => undefined;

  constructor(
    manager: Pick<RunningManager, "address">,
    folder: string,
    service = SERVICE,
    aheadMs = 0,
  ) {
    this.aheadMs = aheadMs;
    this.files = identityFiles(join(folder, "identity"));
    this.tokenFile = join(folder, "token");
    this.keeper = new IdentityKeeper({
      manager: manager.address,
      service,
      tokenFile: this.tokenFile,
      files: this.files,
      nowMs: () => Date.now() + this.aheadMs,
      random: () => 0.5,
      tell: (state) => this.states.push(state),
      sleep: (ms, signal) => this.#sleep(ms, signal),
    });
    onTestFinished(() => this.keeper.close());
  }

  get renewals(): number | undefined {
    return this.keeper.metrics()[1]?.samples[0]?.value;
  }

  get certificate(): X509Certificate {
    return new X509Certificate(readFileSync(this.files.certFile));
  }

  get isWhole(): boolean {
    const key = createPrivateKey(readFileSync(this.files.keyFile));
    const authority = new X509Certificate(readFileSync(this.files.caFile));
    return this.certificate.checkPrivateKey(key) && this.certificate.verify(authority.publicKey);
  }

  wake(): void {
    this.#wake();
  }

  #sleep(ms: number, signal: AbortSignal): Promise<void> {
    this.sleeps.push(ms);
    return new Promise((resolve) => {
      this.#wake = resolve;
      signal.addEventListener("abort", () => resolve(), { once: true });
    });
  }
}

/** A folder with an identity in it, as an earlier run leaves it. */
async function makeKept(manager: RunningManager): Promise<string> {
  const folder = makeFolder();
  const first = new Kept(manager, folder);
  writeFileSync(first.tokenFile, `${await manager.tokenFor(SERVICE)}\n`);
  await first.keeper.start();
  await first.keeper.close();
  expect(first.renewals).toBe(1);
  return folder;
}

test("an identity is fetched, kept for its owner only, and good again after a restart", async () => {
  const manager = await startRunningManager();
  const folder = await makeKept(manager);
  await manager.close();
  const kept = new Kept(manager, folder);
  await kept.keeper.start();
  expect(kept.renewals).toBe(0);
  expect(kept.isWhole).toBe(true);
  expect(kept.certificate.subjectAltName).toBe(`URI:spiffe://portolan/service/${SERVICE}`);
  expect(kept.states).toEqual([{ expiresMs: Date.parse(kept.certificate.validTo), problem: "" }]);
  for (const path of [kept.files.keyFile, kept.files.certFile]) {
    expect(statSync(path).mode & 0o777).toBe(0o600);
  }
  expect(statSync(kept.files.folder).mode & 0o777).toBe(0o700);
  expect(manager.log.warnings).toEqual([]);
});

const otherKey = (): string => {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  return String(privateKey.export({ format: "pem", type: "pkcs8" }));
};

test.each([
  ["certFile", "no certificate"],
  ["certFile", ""],
  ["keyFile", otherKey()],
  ["keyFile", "no key"],
  ["caFile", "no certificate"],
] as const)("a %s that is broken is mended at the start", async (file, text) => {
  const manager = await startRunningManager();
  const kept = new Kept(manager, await makeKept(manager));
  writeFileSync(kept.files[file], text);
  await kept.keeper.start();
  expect(kept.states.at(-1)).toMatchObject({ problem: "" });
  expect(kept.renewals).toBe(1);
  expect(kept.isWhole).toBe(true);
});

test("that of another service, or of an authority that the token is not of, does not count", async () => {
  const manager = await startRunningManager();
  const folder = await makeKept(manager);
  const other = new Kept(manager, folder, "default/other");
  writeFileSync(other.tokenFile, await manager.tokenFor("default/other"));
  await other.keeper.start();
  expect(other.certificate.subjectAltName).toContain("default/other");
  // The manager has lost everything, and there is a token of its new authority.
  const next = await startRunningManager();
  const moved = new Kept(next, folder, "default/other");
  writeFileSync(moved.tokenFile, await next.tokenFor("default/other"));
  await moved.keeper.start();
  expect(moved.renewals).toBe(1);
  expect(moved.isWhole).toBe(true);
});

test("without its token what is kept goes on, and why it can not be renewed is told", async () => {
  const manager = await startRunningManager(MINUTE_MS);
  const kept = new Kept(manager, await makeKept(manager));
  rmSync(kept.tokenFile);
  await kept.keeper.start();
  const { expiresMs } = kept.states[0] ?? { expiresMs: 0 };
  expect(expiresMs).toBeGreaterThan(Date.now());
  kept.wake();
  await expect
    .poll(() => kept.states.at(-1))
    .toEqual({ expiresMs, problem: expect.stringContaining("ENOENT") });
});

test("it is renewed at two thirds of its time, with another key; what fails is tried again", async () => {
  const lifetimeMs = MINUTE_MS;
  const manager = await startRunningManager(lifetimeMs);
  const kept = new Kept(manager, await makeKept(manager));
  await kept.keeper.start();
  const before = kept.certificate;
  await expect.poll(() => kept.sleeps.length).toBe(1);
  // Times in certificates are whole seconds.
  expect(kept.sleeps[0]).toBeGreaterThan(lifetimeMs / 2);
  expect(kept.sleeps[0]).toBeLessThanOrEqual((lifetimeMs * 2) / 3);
  kept.wake();
  await expect.poll(() => kept.sleeps.length).toBe(2);
  expect(kept.renewals).toBe(1);
  expect(kept.isWhole).toBe(true);
  expect(kept.certificate.publicKey.equals(before.publicKey)).toBe(false);

  writeFileSync(kept.tokenFile, await manager.tokenFor("default/other"));
  kept.wake();
  await expect.poll(() => kept.sleeps.length).toBe(3);
  expect(kept.states.at(-1)?.problem).toContain("default/other");
  expect(kept.states.at(-1)?.expiresMs).toBeGreaterThan(Date.now());
  expect(kept.sleeps[2]).toBeLessThan(1000);
  writeFileSync(kept.tokenFile, await manager.tokenFor(SERVICE));
  kept.wake();
  await expect.poll(() => kept.states.at(-1)?.problem).toBe("");
});

test("where a clock is wrong, a certificate that has ended when it comes is a failure", async () => {
  const manager = await startRunningManager();
  const folder = makeFolder();
  const kept = new Kept(manager, folder, SERVICE, 2 * HOUR_MS);
  writeFileSync(kept.tokenFile, await manager.tokenFor(SERVICE));
  await kept.keeper.start();
  expect(kept.states.at(-1)?.problem).toContain("by the clock of this machine");
  await expect.poll(() => kept.sleeps.length).toBe(1);
  kept.wake();
  await expect.poll(() => kept.sleeps.length).toBe(2);
  // Later and later.
  expect(kept.sleeps[0]).toBeGreaterThan(0);
  expect(kept.sleeps[1]).toBeGreaterThan(kept.sleeps[0] ?? 0);
});

test("one that is good for months is waited for bit by bit", async () => {
  const manager = await startRunningManager(60 * 24 * HOUR_MS);
  const kept = new Kept(manager, await makeKept(manager));
  await kept.keeper.start();
  kept.wake();
  await expect.poll(() => kept.sleeps.length).toBe(2);
  expect(kept.sleeps).toEqual([MINUTE_MS, MINUTE_MS]);
  expect(kept.renewals).toBe(0);
});

test("after a machine slept it is renewed within a minute, whatever was left when it fell asleep", async () => {
  const manager = await startRunningManager(HOUR_MS);
  const kept = new Kept(manager, await makeKept(manager));
  await kept.keeper.start();
  await expect.poll(() => kept.sleeps).toEqual([MINUTE_MS]);
  kept.aheadMs = 50 * MINUTE_MS;
  kept.wake();
  await expect.poll(() => kept.sleeps).toEqual([MINUTE_MS, 0]);
  kept.wake();
  await expect.poll(() => kept.renewals).toBe(1);
});

test("who ends does not wait for a manager that says nothing", async () => {
  const manager = await startRunningManager(MINUTE_MS);
  const { address, calls } = await startSilence();
  const kept = new Kept({ address }, await makeKept(manager));
  await kept.keeper.start();
  kept.wake();
  await expect.poll(calls).toBe(1);
  const startMs = performance.now();
  await kept.keeper.close();
  // A manager has ten seconds to answer.
  expect(performance.now() - startMs).toBeLessThan(5000);
  expect(kept.isWhole).toBe(true);
});

test("a folder that can not be written is told", async () => {
  const manager = await startRunningManager();
  const folder = makeFolder();
  const kept = new Kept(manager, folder);
  writeFileSync(kept.tokenFile, await manager.tokenFor(SERVICE));
  writeFileSync(join(folder, "identity"), "a file is in its place");
  await kept.keeper.start();
  expect(kept.states).toEqual([{ expiresMs: 0, problem: expect.stringContaining("EEXIST") }]);
});

test("one that is closed while it asks writes nothing and tells nothing; started again it takes what is there", async () => {
  const manager = await startRunningManager(MINUTE_MS);
  const { address, calls } = await startSilence();
  const folder = await makeKept(manager);
  const old = new Kept({ address }, folder);
  await old.keeper.start();
  old.wake();
  await expect.poll(calls).toBe(1);
  await old.keeper.close();
  // The next process has another one made, and goes.
  const next = new Kept(manager, folder);
  await next.keeper.start();
  next.wake();
  await expect.poll(() => next.renewals).toBe(1);
  await next.keeper.close();
  await old.keeper.start();
  expect(old.states.map(({ problem }) => problem)).toEqual(["", ""]);
  expect(old.states[1]).toEqual(next.states.at(-1));
  expect(old.renewals).toBe(0);
  expect(old.isWhole).toBe(true);
});
