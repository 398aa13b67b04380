import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { runCli } from "../support/cli.ts";
import { startEtcd } from "../support/etcd.ts";
import { makeCertificate } from "../support/make-certificate.ts";
import { requires } from "../support/requires.ts";
import { sampleEndpoint } from "../support/samples.ts";
import { checkHistory } from "./etcd-faults.ts";
import { contents, follow, put, service } from "./etcd-followed.ts";

async function folderOfTest(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "portolan-etcd-faults-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

describe("an etcd of several members", requires("etcd", "etcdctl"), () => {
  test("the one that is followed is killed under load: nothing is missed, nothing told twice", async () => {
    const etcd = await startEtcd({ members: 3 });
    const client = etcd.client();
    const { store, until, oks } = await follow(etcd);
    await until(() => store.isSynced() && oks.length > 0);
    const seen: number[] = [];
    store.onCommit(({ changes }) => {
      for (const { after } of changes) if (after?.kind === "Endpoint") seen.push(after.weight);
    });
    const followed = etcd.members.find(({ address }) => oks[0]?.endsWith(address) === true);
    expect(followed).toBeDefined();
    const writes = 300;
    for (let weight = 1; weight <= writes; weight += 1) {
      if (weight === 100) void followed?.kill();
      await client.transact(
        [],
        [put(sampleEndpoint({ group: "web", addresses: ["10.0.0.1"], weight }))],
      );
    }
    await until(() => seen.at(-1) === writes);
    expect(seen).toEqual([...new Set(seen)].sort((a, b) => a - b));
    expect(oks.at(-1)).not.toBe(oks[0]);
    // Each revision is told, be it that some come together after the fail-over: only the last one of these is seen.
    expect(seen.slice(0, 50)).toEqual(Array.from({ length: 50 }, (_, index) => index + 1));
  });

  test("one that stops without a word is left for another", async () => {
    const etcd = await startEtcd({ members: 3 });
    const { store, until, oks } = await follow(etcd);
    await until(() => store.isSynced() && oks.length > 0);
    const followed = etcd.members.find(({ address }) => oks[0]?.endsWith(address) === true);
    followed?.freeze();
    await etcd.client().transact([], [put(service("a", "10.0.0.1"))]);
    await until(() => contents(store).has("Service a"));
    expect(oks.at(-1)).not.toBe(oks[0]);
    followed?.thaw();
  });

  test("after a history with faults the store has what etcd has", async () => {
    await checkHistory(Date.now(), 80);
    expect.assertions(2);
  });
});

describe("an etcd that asks who comes", requires("etcd", "etcdctl", "openssl"), () => {
  test("users: only the right password, only the prefix of the role, and again after a restart", async () => {
    const etcd = await startEtcd();
    for (const command of [
      "user add root:secret",
      "user grant-role root root",
      "role add nodes",
      "role grant-permission nodes --prefix=true readwrite /portolan/",
      "user add node:pass",
      "user grant-role node nodes",
      "auth enable",
    ]) {
      await etcd.ctl(...command.split(" "));
    }
    const credentials = { user: "node", password: "pass" };
    const wrong = etcd.client({ credentials: { user: "node", password: "no" } });
    await expect(wrong.range({ key: Buffer.from("/portolan/x") })).rejects.toMatchObject({
      code: "ERR_ETCD_REFUSED",
      message: expect.stringContaining("authentication failed"),
    });
    await expect(etcd.client().range({ key: Buffer.from("/portolan/x") })).rejects.toMatchObject({
      code: "ERR_ETCD_REFUSED",
    });
    const client = etcd.client({ credentials });
    await client.transact([], [put(service("a", "10.0.0.1"))]);
    await expect(client.range({ key: Buffer.from("/other") })).rejects.toMatchObject({
      code: "ERR_ETCD_REFUSED",
      message: expect.stringContaining("permission denied"),
    });
    const { store, until } = await follow(etcd, { credentials });
    await until(() => contents(store).has("Service a"));
    // Tokens are forgotten with the process that gave them.
    await etcd.members[0]?.kill();
    await etcd.members[0]?.start();
    await client.transact([], [put(service("b", "10.0.0.2"))]);
    await until(() => contents(store).has("Service b"));
  });

  test("TLS with client certificates, by the options of the command line", async () => {
    const folder = await folderOfTest();
    const { cert, key } = await makeCertificate(folder, "ours");
    const strangers = await makeCertificate(folder, "strangers");
    const etcd = await startEtcd({ tls: { ca: cert, cert, key } });
    const target = ["--target", `etcd:${etcd.addresses}`];
    const file = join(folder, "web.yaml");
    await writeFile(file, "version: 1\nservices: { web: { servers: [10.0.0.1:80] } }\n");
    const trust = ["--etcd-tls-ca", cert];
    const show = (shown: typeof strangers) => [
      "--etcd-tls-cert",
      shown.cert,
      "--etcd-tls-key",
      shown.key,
    ];
    expect(
      await runCli(["apply", "-f", file, ...target, ...trust, ...show({ cert, key })]),
    ).toMatchObject({
      code: 0,
    });
    const client = etcd.client();
    expect(
      (await client.range({ key: Buffer.from("/portolan/v1/objects/Service/default/web") })).kvs,
    ).toHaveLength(1);
    const refused = etcd.client({
      tls: { caFile: cert, certFile: strangers.cert, keyFile: strangers.key },
      limits: { deadlineMs: 500 },
    });
    await expect(refused.range({ key: Buffer.from("/") })).rejects.toMatchObject({
      code: "ERR_ETCD_UNREACHABLE",
      message: expect.stringContaining("certificate"),
    });
    const { store, until } = await follow(etcd);
    await until(() => contents(store).has("Service web"));
  });
});
