import { expect, test, vi } from "vitest";
import { TOPOLOGY } from "../../../src/core/route/scenarios/topology.ts";
import { endpoint, service } from "../../netns/play.ts";
import { Machine } from "./machine.ts";

const { clusterIP, port, targetPort, outside, workloads } = TOPOLOGY;
const THERE = `${clusterIP.v4}:${port}`;
/** In the range of the marks of insiders. */
const THEIR_MARK = 0x2000_0005;
const THEIR_IP = "192.0.2.7";
/** Tools take their time in this kernel: what is asked too often keeps the backend from its work. */
const LOOKS = { timeout: 60_000, interval: 500 } as const;

test("what others alter is put right, whatever they alter; an address that another link gets is theirs", async () => {
  const machine = await Machine.open({ ipvsSyncPeriod: "1s" });
  const objects = [service({ affinitySeconds: 300 }), endpoint("web-a")];
  await machine.apply(...objects);
  const before = machine.state();
  const end = `${workloads["web-a"].addresses.v4}:${targetPort}`;
  const limits = (): string => machine.run("ipvsadm", "-Ln", "--thresholds");
  const unlimited = limits();
  // It looks at the kernel only once all is altered.
  process.kill(machine.backend.pid, "SIGSTOP");
  machine.run("ipvsadm", "-e", "-t", THERE, "-r", end, "-m", "-w", "1", "-x", "5", "-y", "2");
  machine.run("ipvsadm", "-E", "-t", THERE, "-s", "wrr", "-p", "300", "-M", "255.255.255.0");
  machine.run("ipset", "flush", "KUBE-CLUSTER-IP");
  machine.run("iptables-legacy", "-t", "nat", "-F", "KUBE-MARK-MASQ");
  expect(machine.state()).not.toBe(before);
  expect(limits()).not.toBe(unlimited);
  process.kill(machine.backend.pid, "SIGCONT");
  await vi.waitFor(() => expect(machine.state()).toBe(before), LOOKS);
  await vi.waitFor(() => expect(limits()).toBe(unlimited), LOOKS);

  machine.run("ip", "address", "add", `${clusterIP.v4}/32`, "dev", "lo");
  const own = (): string => machine.run("ip", "-o", "address", "show", "dev", "kube-ipvs0");
  await vi.waitFor(() => expect(own()).not.toContain(clusterIP.v4), LOOKS);
  expect(machine.run("ipset", "list", "KUBE-IPVS-IPS")).not.toContain(clusterIP.v4);
  const call = { party: "outside", protocol: "TCP", from: outside.v4, to: clusterIP.v4 } as const;
  expect((await machine.stage.call([{ ...call, port }]))[0]?.kind).toBe("answered");
  machine.run("ip", "address", "delete", `${clusterIP.v4}/32`, "dev", "lo");
  await vi.waitFor(() => expect(machine.state()).toBe(before), LOOKS);
});

test("others' marks, and their addresses on the link, survive start and clean-up; a set of theirs is named", async () => {
  const machine = await Machine.open({ ipvsExcludeCidrs: ["192.0.2.0/24"] });
  machine.run("ipvsadm", "-A", "-f", String(THEIR_MARK), "-s", "rr");
  machine.run("ip", "link", "add", "kube-ipvs0", "type", "dummy");
  machine.run("ip", "address", "add", `${THEIR_IP}/32`, "dev", "kube-ipvs0");
  machine.run("ipset", "create", "KUBE-CLUSTER-IP", "hash:net");
  const local = service({ externalIPs: ["198.51.100.77"], externalTrafficPolicy: "Local" });
  const objects = [local, endpoint("web-a"), endpoint("web-b")];
  await expect(machine.apply(...objects)).rejects.toThrow("ipset destroy KUBE-CLUSTER-IP");
  machine.run("ipset", "destroy", "KUBE-CLUSTER-IP");
  await machine.apply(...objects);
  // Theirs, and one for insiders with and without the bit of masquerading.
  const marks = (): number => machine.run("ipvsadm", "-Sn").match(/^-A -f /gm)?.length ?? 0;
  expect(marks()).toBe(3);
  await machine.backend.close();
  expect(machine.run("ipvsadm", "-Sn")).toBe(`-A -f ${THEIR_MARK} -s rr\n`);
  const left = machine.run("ip", "-o", "address", "show", "dev", "kube-ipvs0");
  expect(left.match(/inet6? \S+/g)?.filter((one) => !one.includes("fe80:"))).toEqual([
    `inet ${THEIR_IP}/32`,
  ]);
  expect(machine.run("ipset", "list", "-n")).toBe("");
});
