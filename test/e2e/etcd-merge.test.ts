import { describe, expect, test } from "vitest";
import { startEtcd } from "../support/etcd.ts";
import { requires } from "../support/requires.ts";
import { startUp } from "./cli-instance.ts";
import { put, service } from "./etcd-followed.ts";

const SLOW = 60_000;
const FILE =
  "kind: Service\nname: from-file\nclusterIPs: [10.0.0.1]\n---\nkind: Service\nname: file-alone\nclusterIPs: [10.0.0.7]\n";

/** `name=owner` of all services. */
async function servicesOf(instance: Awaited<ReturnType<typeof startUp>>): Promise<string> {
  const { stdout } = await instance.run(["get", "services", "-o", "yaml"]);
  const found = [...stdout.matchAll(/# owner: (\w+).*\n(?:.+\n)*?name: (\S+)/g)];
  return found.map(([, owner, name]) => `${name}=${owner}`).join(" ");
}

async function metricsOf({ up }: Awaited<ReturnType<typeof startUp>>): Promise<string> {
  const [, address] = await up.waitFor(/status pages on ([\d.:]+)/, "stderr");
  return (await fetch(`http://${address}/metrics`)).text();
}

describe("an etcd, a file and commands at once", requires("etcd", "etcdctl"), () => {
  test(
    "in an order the first wins, and what lost is told and comes when it can",
    async () => {
      const etcd = await startEtcd();
      const client = etcd.client();
      await client.transact(
        [],
        [put(service("from-etcd", "10.0.0.1")), put(service("etcd-alone", "10.0.0.8"))],
      );
      const from = ["--from", `etcd:${etcd.addresses}`, "--from", "file:state.yaml"];
      const instance = await startUp({
        args: [...from, "--source-order", "first-wins"],
        files: { "state.yaml": FILE },
      });
      expect(await servicesOf(instance)).toBe("etcd-alone=etcd file-alone=file from-etcd=etcd");
      const lost =
        (owner: string) =>
        (status: { components: readonly { name: string; notHonoured: readonly string[] }[] }) =>
          status.components.some(
            ({ name, notHonoured }) =>
              name.startsWith(owner) &&
              notHonoured.some((line) => line.includes("cluster IP 10.0.0.1 is held by")),
          );
      await instance.until(lost("file:"));
      expect((await instance.run(["status"])).stdout).toMatch(
        /source +etcd:\S+ +ok +follows \/portolan\/ at 127\.0\.0\.1:\d+; revision 2, 0 events, requests take [\d.]+ ms\n/,
      );
      const metrics = await metricsOf(instance);
      expect(metrics).toMatch(/^portolan_etcd_revision\{source="etcd:\S+"\} 2$/m);
      expect(metrics).toMatch(
        /^portolan_etcd_request_seconds_count\{source="etcd:\S+",call="Range"\} 1$/m,
      );
      // What is commanded is so at once, or refused.
      const mine = instance.file(
        "mine.yaml",
        "kind: Service\nname: mine\nclusterIPs: [10.0.0.1]\n",
      );
      const refused = await instance.run(["apply", "-f", mine]);
      expect(refused.stderr).toContain(
        "claims cluster IP 10.0.0.1, which Service default/from-etcd",
      );
      expect(refused.code).toBe(3);
      await etcd.ctl("del", "/portolan/v1/objects/Service/default/from-etcd");
      await instance.until((status) => !lost("file:")(status));
      expect(await servicesOf(instance)).toBe("etcd-alone=etcd file-alone=file from-file=file");
    },
    SLOW,
  );

  test(
    "without an order what is there first stays, and what is refused is told",
    async () => {
      const etcd = await startEtcd();
      const client = etcd.client();
      await client.transact(
        [],
        [put(service("from-etcd", "10.0.0.1")), put(service("etcd-alone", "10.0.0.8"))],
      );
      const instance = await startUp({
        args: ["--from", `etcd:${etcd.addresses}`, "--from", "file:state.yaml"],
        files: { "state.yaml": FILE },
      });
      expect(await servicesOf(instance)).toBe("etcd-alone=etcd file-alone=file from-file=file");
      const refused =
        (text: string) =>
        (status: { components: readonly { name: string; notHonoured: readonly string[] }[] }) =>
          status.components.some(
            ({ name, notHonoured }) =>
              name.startsWith("etcd:") && notHonoured.some((line) => line.includes(text)),
          );
      await instance.until(refused("Service default/from-etcd: cluster IP 10.0.0.1 is held by"));
      const mine = instance.file(
        "mine.yaml",
        "kind: Service\nname: mine\nclusterIPs: [10.0.0.8]\n",
      );
      expect((await instance.run(["apply", "-f", mine])).code).toBe(3);
      instance.file("state.yaml", "version: 1\n");
      await instance.until((status) => !refused("from-etcd")(status));
      expect(await servicesOf(instance)).toBe("etcd-alone=etcd from-etcd=etcd");
      expect(instance.up.stderr).toContain("refused: Service default/from-etcd");
    },
    SLOW,
  );
});
