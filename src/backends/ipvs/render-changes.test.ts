import { expect, test } from "vitest";
import { setsOf } from "./glue/set-names.ts";
import { renderAddressChange, renderIpvsChange, renderSetChange } from "./render-changes.ts";

test("sets are as large as those that the backend makes", () => {
  const { clusterIp, inside, healthCheck } = setsOf("v6");
  expect(
    [clusterIp, inside, healthCheck].map((set) => renderSetChange({ kind: "create", set })),
  ).toEqual([
    "create KUBE-6-CLUSTER-IP hash:ip,port family inet6 maxelem 4194304",
    "create KUBE-6-IPVS-INSIDE hash:ip,port family inet6 maxelem 4194304 skbinfo",
    "create KUBE-6-HEALTH-CHECK-NODE-PORT bitmap:port range 0-65535",
  ]);
});

test("entries are said with their marks and as exceptions", () => {
  const { inside, allowed } = setsOf("v4");
  const call = { ip: "203.0.113.1", protocol: "TCP", port: 80 } as const;
  const mark = 0x2000_0001;
  expect(renderSetChange({ kind: "add", set: inside, entry: { ...call, mark } })).toBe(
    "add KUBE-IPVS-INSIDE 203.0.113.1,tcp:80 skbmark 0x20000001",
  );
  const entry = { ...call, second: "10.0.0.0/8", isException: true };
  expect(renderSetChange({ kind: "add", set: allowed, entry })).toBe(
    "add KUBE-LOAD-BALANCER-SOURCE-CIDR 203.0.113.1,tcp:80,10.0.0.0/8 nomatch",
  );
});

test("addresses are never sources by themselves", () => {
  expect(["10.96.0.1", "fd00::1"].map((ip) => renderAddressChange({ kind: "add", ip }))).toEqual([
    "address add 10.96.0.1/32 dev kube-ipvs0 scope host",
    "address add fd00::1/128 dev kube-ipvs0 nodad preferred_lft 0",
  ]);
  expect(renderAddressChange({ kind: "delete", ip: "fd00::1" })).toBe(
    "address del fd00::1/128 dev kube-ipvs0",
  );
});

test("virtual servers by address and by mark, with their real ones", () => {
  const balancing = { scheduler: "sh", flags: 0, persistenceSeconds: 600 };
  const place = { protocol: "SCTP", ip: "fd00::1", port: 80 } as const;
  const server = { family: "v6", place, ...balancing } as const;
  expect(renderIpvsChange({ kind: "newService", server })).toBe(
    "-A --sctp-service [fd00::1]:80 -s sh -p 600",
  );
  const destination = { ip: "fd00::2", port: 8080, weight: 0 };
  expect(
    renderIpvsChange({
      kind: "setDestination",
      server: { ...server, place: { mark: 77 } },
      destination,
    }),
  ).toBe("-e -f 77 -6 -r [fd00::2]:8080 -m -w 0");
});
