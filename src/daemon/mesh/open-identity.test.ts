import { createPrivateKey, X509Certificate } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { MetricFamily } from "../../core/metrics/metric-family.ts";
import { StatusBoard } from "../../core/status/status-board.ts";
import { identityFiles } from "../../mesh/identity-files.ts";
import { startRunningManager } from "../../mesh/running-manager.fixture.ts";
import { Closers } from "../closers.ts";
import { createFakeDeps } from "../instance.fixture.ts";
import type { Standstill } from "../succession.ts";
import { openIdentity } from "./open-identity.ts";

/** What another process that comes and goes has stand still. */
class FakeSuccession {
  readonly standstills: Standstill[] = [];

  async addStandstill(standstill: Standstill): Promise<void> {
    this.standstills.push(standstill);
  }
}

/** @param token missing: one that is right */
async function open(token?: (service: string) => Promise<string>, nowMs = () => Date.now()) {
  const manager = await startRunningManager();
  const folder = mkdtempSync(join(tmpdir(), "portolan-identity-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const tokenFile = join(folder, "token");
  const text = await (token ?? manager.tokenFor)("default/shop");
  writeFileSync(tokenFile, text);
  const board = new StatusBoard({ now: () => 0 });
  const deps = createFakeDeps([], { nowMs });
  const closers = new Closers(deps.log);
  onTestFinished(() => closers.closeAll());
  const succession = new FakeSuccession();
  const files = identityFiles(join(folder, "identity"));
  let metrics: () => readonly MetricFamily[] = () => [];
  await openIdentity(
    {
      manager: manager.address,
      service: "default/shop",
      tokenFile,
      files,
    },
    {
      deps,
      report: board.add("server", "identity"),
      metrics: {
        watchPart: (_kind, _name, read) => {
          metrics = read;
        },
      },
      closers,
      succession,
    },
  );
  const said = () => board.components().map(({ health, message }) => `${health}: ${message}`);
  return {
    said,
    values: () => metrics().map(({ samples }) => samples[0]?.value ?? -1),
    files,
    standstills: succession.standstills,
  };
}

test("it is there before anybody may have to show it, and until when is told and counted", async () => {
  const { said, values } = await open();
  expect(said()).toEqual([expect.stringMatching(/^ok: service default\/shop until 20\d\d-.*Z$/)]);
  const [expires = 0, renewals] = values();
  expect(expires * 1000).toBeGreaterThan(Date.now());
  expect(renewals).toBe(1);
});

test("an instance that gets none starts all the same, and says why it has none", async () => {
  const { said, values } = await open(async () => "no token");
  expect(said()).toEqual([
    expect.stringMatching(/^failed: service default\/shop has no certificate: .*not whole/),
  ]);
  expect(values()).toEqual([0, 0]);
});

test("one that has ended by this machine's clock is none", async () => {
  const { said } = await open(undefined, () => Date.now() + 7_200_000);
  expect(said()).toEqual([expect.stringMatching(/^failed: .*by the clock of this machine/)]);
});

test("while another process may take over the files are its own, and this one's again where it does not", async () => {
  const { said, values, files, standstills } = await open();
  const [standstill] = standstills;
  await standstill?.begin();
  // As a successor that can not serve leaves it: it began a renewal, and was killed between two files.
  writeFileSync(files.certFile, "");
  expect(readFileSync(files.certFile, "utf8")).toBe("");
  expect(values()[1]).toBe(1);
  standstill?.end();
  await expect.poll(() => values()[1]).toBe(2);
  const certificate = new X509Certificate(readFileSync(files.certFile));
  expect(certificate.checkPrivateKey(createPrivateKey(readFileSync(files.keyFile)))).toBe(true);
  expect(said()).toEqual([expect.stringMatching(/^ok: /)]);
});
