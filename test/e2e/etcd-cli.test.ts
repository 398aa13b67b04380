import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { type EtcdStateTarget, openEtcdTarget } from "../../src/cli/desired/etcd-target.ts";
import { runCli, startCli } from "../support/cli.ts";
import { type EtcdCluster, startEtcd } from "../support/etcd.ts";
import { requires } from "../support/requires.ts";
import { sampleEndpoint, sampleService } from "../support/samples.ts";

const SLOW = 60_000;
const WEB = "version: 1\nservices: { web: { servers: [10.0.0.1:80, 10.0.0.2:80] } }\n";

function folderOfTest(): (name: string, text: string) => string {
  const folder = mkdtempSync(join(tmpdir(), "portolan-etcd-cli-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return (name, text) => {
    const path = join(folder, name);
    writeFileSync(path, text);
    return path;
  };
}

function targetOf(
  etcd: EtcdCluster,
  note = (line: string): void => {
    throw new Error(line);
  },
): EtcdStateTarget {
  const target = openEtcdTarget({
    members: etcd.options.members,
    access: {
      prefix: "/portolan",
      maxObjects: 100_000,
      maxObjectBytes: 100_000,
      tls: undefined,
      credentials: undefined,
    },
    note,
  });
  onTestFinished(() => target.close());
  return target;
}

describe("commands on an etcd", requires("etcd", "etcdctl"), () => {
  test(
    "apply, diff, get, delete and watch answer as an instance does",
    async () => {
      const etcd = await startEtcd();
      const target = ["--target", `etcd:${etcd.addresses}`];
      const file = folderOfTest();
      const web = file("web.yaml", WEB);
      expect(await runCli(["diff", "-f", web, ...target])).toMatchObject({
        code: 1,
        stdout:
          "+ Service default/web\n+ Endpoint default/web/10.0.0.1:80\n+ Endpoint default/web/10.0.0.2:80\n3 changes: 3 created\n",
      });
      const watching = startCli(["watch", "servers", "--json", ...target]);
      await watching.waitFor(/"synced"/);
      const applied = await runCli(["apply", "-f", web, ...target]);
      expect(applied.stdout).toMatch(/3 changes: 3 created\napplied, revision \d+\n$/);
      expect(await runCli(["apply", "-f", web, ...target])).toMatchObject({
        code: 0,
        stdout: "nothing differs\n",
      });
      await watching.waitFor(/10\.0\.0\.2:80/);
      const got = await runCli(["get", "-o", "yaml", ...target]);
      expect(
        await runCli(["diff", "--prune", "-f", "-", ...target], { stdin: got.stdout }),
      ).toMatchObject({
        code: 0,
      });
      expect((await runCli(["get", "servers", ...target])).stdout).toMatch(
        /^ENDPOINT +ADDRESS .*\nweb\/10\.0\.0\.1:80 .* control\nweb\/10\.0\.0\.2:80 .* control\n$/,
      );
      const one = file("one.yaml", WEB.replace(", 10.0.0.2:80", ""));
      expect((await runCli(["apply", "--prune", "-f", one, ...target])).stdout).toMatch(
        /^- Endpoint default\/web\/10\.0\.0\.2:80\n1 change: 1 deleted\napplied, revision \d+\n$/,
      );
      await watching.waitFor(/"delete"/);
      const missing = await runCli(["delete", "service", "nothing", ...target]);
      expect(missing).toMatchObject({ code: 1 });
      expect(missing.stderr).toContain("not there: Service default/nothing");
      expect((await runCli(["delete", "-f", one, ...target])).stdout).toContain("2 deleted");
      expect(await etcd.ctl("get", "--prefix", "/portolan/v1/objects/", "--keys-only")).toBe("");
      expect((await watching.stop("SIGINT")).code).toBe(130);
    },
    SLOW,
  );

  test("of several that write at once none undoes another, and no address is given twice", async () => {
    const etcd = await startEtcd();
    const targets = Array.from({ length: 6 }, () => targetOf(etcd));
    const service = (name: string, ip: string) => sampleService({ name, clusterIPs: [ip] });
    const outcomes = await Promise.allSettled(
      targets.map((target, index) =>
        target.apply({
          objects: [service(`s${index}`, `10.0.0.${Math.floor(index / 2)}`)],
          prune: false,
          dryRun: false,
        }),
      ),
    );
    const refused = outcomes.filter(({ status }) => status === "rejected");
    expect(refused).toEqual(
      refused.map(() =>
        expect.objectContaining({ reason: expect.objectContaining({ code: "ERR_ADDRESS_TAKEN" }) }),
      ),
    );
    expect(refused).toHaveLength(3);
    const { objects } = await targetOf(etcd).get({});
    expect(
      objects.flatMap(({ object }) => ("clusterIPs" in object ? object.clusterIPs : [])),
    ).toEqual(expect.arrayContaining(["10.0.0.0", "10.0.0.1", "10.0.0.2"]));
    expect(objects).toHaveLength(3);
  });

  test("more than one request of etcd can hold is written in parts, and that is told", async () => {
    const etcd = await startEtcd();
    const notes: string[] = [];
    const target = targetOf(etcd, (line) => notes.push(line));
    const objects = [
      sampleService({ name: "web" }),
      ...Array.from({ length: 4000 }, (_, index) =>
        sampleEndpoint({
          group: "web",
          name: `e${index}`,
          addresses: [`10.1.${index >> 8}.${index & 255}`],
        }),
      ),
    ];
    const first = await target.apply({ objects, prune: false, dryRun: false });
    expect(first.changes).toHaveLength(4001);
    expect(notes.splice(0)).toEqual([
      "written in 2 transactions, since it is more than etcd takes in one: whoever follows it saw the steps in between",
    ]);
    const again = await target.apply({ objects, prune: false, dryRun: false });
    expect(again.changes).toEqual([]);
    expect(notes).toEqual([]);
    const gone = await target.apply({ objects: objects.slice(0, 11), prune: true, dryRun: false });
    expect(gone.changes).toHaveLength(3990);
    expect((await target.get({ kinds: ["Endpoint"] })).objects).toHaveLength(10);
  });

  test("what is not understood is deleted by its name, but only with force", async () => {
    const etcd = await startEtcd();
    const key = "/portolan/v1/objects/Service/default/web";
    await etcd.ctl("put", key, "{");
    const notes: string[] = [];
    const target = targetOf(etcd, (line) => notes.push(line));
    const params = { objects: [{ kind: "Service", key: "default/web" }], dryRun: false } as const;
    await expect(target.delete(params)).rejects.toMatchObject({
      code: "ERR_STATE_INVALID",
      message: expect.stringContaining("Service default/web; expected --force"),
    });
    expect(await etcd.ctl("get", key, "--keys-only")).toContain(key);
    const { changes } = await target.delete({ ...params, force: true });
    expect(changes).toEqual([{ action: "delete", kind: "Service", key: "default/web" }]);
    expect(await etcd.ctl("get", key, "--keys-only")).toBe("");
    await expect(target.delete({ ...params, force: true })).rejects.toMatchObject({
      code: "ERR_NOT_FOUND",
    });
    expect(notes[0]).toContain("left out: Service default/web: the value is not understood");
  });

  test(
    "with a lease endpoints are there as long as who applied them; what they belong to stays",
    async () => {
      const etcd = await startEtcd();
      const target = ["--target", `etcd:${etcd.addresses}`];
      const file = folderOfTest()("web.yaml", WEB);
      expect(await runCli(["apply", "-f", file, "--lease", "2s"])).toMatchObject({ code: 2 });
      expect(await runCli(["apply", "-f", file, "--lease", "1ms", ...target])).toMatchObject({
        code: 2,
      });
      const watching = startCli(["watch", ...target]);
      await watching.waitFor(/# that is all/);
      const first = startCli(["apply", "-f", file, "--lease", "2s", ...target]);
      await first.waitFor(/kept until this ends/);
      // The one that comes after it takes the endpoints over.
      const second = startCli(["apply", "-f", file, "--lease", "2s", ...target]);
      await second.waitFor(/kept until this ends/);
      expect(await first.stop("SIGTERM")).toMatchObject({ code: 0 });
      expect((await runCli(["get", "servers", ...target])).stdout).toContain("web/10.0.0.2:80");
      expect(watching.stdout).not.toContain("- ");
      // It can not say that it goes.
      await second.stop("SIGKILL");
      await watching.waitFor(/- Endpoint default\/web\/10\.0\.0\.1:80/);
      await watching.waitFor(/- Endpoint default\/web\/10\.0\.0\.2:80/);
      expect((await runCli(["get", ...target])).stdout).toMatch(/^SERVICE.*\nweb .*\n$/);
    },
    SLOW,
  );
});
