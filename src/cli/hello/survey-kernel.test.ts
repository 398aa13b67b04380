import { expect, test } from "vitest";
import { verdictOf } from "./survey.ts";
import { surveyKernel } from "./survey-kernel.ts";

const ALL: Readonly<Record<string, string>> = {
  "/proc/sys/net/ipv6/conf/all/disable_ipv6": "0\n",
  "/proc/sys/net/netfilter/nf_conntrack_max": "262144\n",
  "/proc/self/ns/net": "",
  "/dev/net/tun": "",
};

async function verdicts(files: Readonly<Record<string, string>>): Promise<object> {
  const things = await surveyKernel(async (path) => files[path]);
  return Object.fromEntries(things.map((thing) => [thing.name, verdictOf(thing)]));
}

test("a kernel with everything works", async () => {
  expect(new Set(Object.values(await verdicts(ALL)))).toEqual(new Set(["works"]));
});

test("IPv6 that is switched off is told, with how to switch it on", async () => {
  const path = "/proc/sys/net/ipv6/conf/all/disable_ipv6";
  const things = await surveyKernel(async (asked) => (asked === path ? "1\n" : ALL[asked]));
  expect(things.find(({ name }) => name === "IPv6")?.findings).toEqual([
    {
      severity: "degraded",
      what: "IPv6 is switched off",
      remedy: "sysctl -w net.ipv6.conf.all.disable_ipv6=0",
    },
  ]);
});

test("a kernel with nothing has nothing but IPv4", async () => {
  expect(await verdicts({})).toEqual({
    IPv6: "degraded",
    conntrack: "missing",
    namespaces: "missing",
    TUN: "missing",
  });
});
