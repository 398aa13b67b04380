import { readFileSync, statSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { ObjectName } from "../../brain/manager/ledger.ts";
import { parseKind } from "../../core/model/parse.ts";
import { createLog } from "../instance.fixture.ts";
import { FileLedger } from "./file-ledger.ts";

const NODE = parseKind("Node", { name: "a", subnets: ["10.18.0.0/26"] });

async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "portolan-ledger-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

function openIn(folder: string): Promise<FileLedger> {
  return FileLedger.open(folder, createLog().log, () => 0);
}

test("what was kept is there again, and what was removed is not", async () => {
  const folder = await makeFolder();
  const first = await openIn(folder);
  const secrets = new Map([
    ["tokens/1", "one"],
    ["tokens/2", "two"],
  ]);
  expect(await first.change(() => ({ change: { set: [NODE], secrets }, result: 7 }))).toBe(7);
  const gone = new Map([["tokens/1", undefined]]);
  await first.change(() => ({ change: { secrets: gone }, result: undefined }));
  await first.close();

  const second = await openIn(folder);
  expect(second.get("Node", "a")).toEqual(NODE);
  expect(second.get("Service", "a")).toBeUndefined();
  expect([...second.secrets()]).toEqual([["tokens/2", "two"]]);
  const name = { kind: "Node", key: "a" } as const;
  await second.change(() => ({ change: { delete: [name] }, result: undefined }));
  expect([...second.objects()]).toEqual([]);
  await second.close();
  const third = await openIn(folder);
  expect([...third.objects()]).toEqual([]);
  await third.close();
});

test("who follows is told once it is kept; a plan that refuses changes nothing", async () => {
  const folder = await makeFolder();
  const ledger = await openIn(folder);
  const told: (readonly ObjectName[])[] = [];
  ledger.follow((names) => told.push(names));
  await ledger.change(() => ({ change: { set: [NODE] }, result: undefined }));
  expect(told).toEqual([[{ kind: "Node", key: "a" }]]);
  const refuse = (): never => {
    throw new Error("refused");
  };
  await expect(ledger.change(refuse)).rejects.toThrow("refused");
  expect([told.length, ledger.get("Node", "a")]).toEqual([1, NODE]);
  await ledger.close();
});

test("changes come one after the other: each sees what the one before kept", async () => {
  const ledger = await openIn(await makeFolder());
  const count = () =>
    ledger.change(() => {
      const next = String(Number(ledger.secret("count") ?? "0") + 1);
      return { change: { secrets: new Map([["count", next]]) }, result: next };
    });
  const counted = await Promise.all(Array.from({ length: 20 }, count));
  expect(new Set(counted).size).toBe(20);
  expect(ledger.secret("count")).toBe("20");
  await ledger.close();
});

test("secrets are for their user alone, and are refused where they are not understood", async () => {
  const folder = await makeFolder();
  const ledger = await openIn(folder);
  const secrets = new Map([["authority", "key"]]);
  await ledger.change(() => ({ change: { secrets }, result: undefined }));
  await ledger.close();
  const path = join(folder, "secrets.json");
  expect(statSync(path).mode & 0o777).toBe(0o600);
  const text = readFileSync(path, "utf8");
  for (const wrong of ["", text.slice(0, -3), '{"version":2,"secrets":{}}', '{"version":1}']) {
    writeFileSync(path, wrong);
    await expect(openIn(folder)).rejects.toMatchObject({ code: "ERR_STATE_INVALID" });
  }
  writeFileSync(path, text);
  const again = await openIn(folder);
  expect(again.secret("authority")).toBe("key");
  await again.close();
});
