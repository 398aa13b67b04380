import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { CoreError } from "../../core/errors.ts";
import type { Log } from "../../core/log.ts";
import { endpointSchema } from "../../core/model/endpoint.ts";
import { nodeSchema } from "../../core/model/node.ts";
import type { ModelObject } from "../../core/model/object.ts";
import { serviceSchema } from "../../core/model/service.ts";
import { flagLayer, resolveOptions } from "../../core/options/resolve-options.ts";
import { GlobalStore } from "../../core/store/global-store.ts";
import { NodeWatcher } from "../../core/view/node-watcher.ts";
import type { Preview } from "../backend.ts";
import { KERNEL_SETS } from "../kernel-options.ts";
import { IPVS_OPTIONS } from "./options.ts";
import { type PreviewWorld, previewIpvs } from "./preview.ts";

const NODE = "node-a";
const silent = (): void => undefined;
const LOG: Log = { debug: silent, info: silent, warn: silent, error: silent };

/** One of each type, of several protocols, with and without endpoints of this node. */
const OBJECTS = [
  nodeSchema.parse({
    kind: "Node",
    name: NODE,
    addresses: ["192.168.100.1", "fd00:100::1"],
    subnets: ["10.244.1.0/24"],
  }),
  serviceSchema.parse({
    kind: "Service",
    name: "balanced",
    type: "LoadBalancer",
    clusterIPs: ["10.96.0.10", "fd00:96::10"],
    externalIPs: ["198.51.100.7"],
    loadBalancerIPs: ["203.0.113.10"],
    externalTrafficPolicy: "Local",
    healthCheckNodePort: 32_000,
    sourceRanges: ["192.0.2.0/24"],
    affinitySeconds: 600,
    ports: [{ name: "main", port: 80, targetPort: 8080, nodePort: 30_080 }],
  }),
  endpointSchema.parse({
    kind: "Endpoint",
    name: "here",
    group: "balanced",
    node: NODE,
    addresses: ["10.244.1.12", "fd00:244:1::12"],
  }),
  endpointSchema.parse({
    kind: "Endpoint",
    name: "there",
    group: "balanced",
    node: "node-b",
    weight: 3,
    addresses: ["10.244.2.12"],
  }),
  serviceSchema.parse({
    kind: "Service",
    name: "hashed",
    type: "NodePort",
    annotations: { "portolan/ipvs-scheduler": "mh" },
    clusterIPs: ["10.96.0.11"],
    ports: [
      { name: "dns", protocol: "UDP", port: 53, targetPort: 5353, nodePort: 30_053 },
      { name: "calls", protocol: "SCTP", port: 3868, targetPort: 3868 },
    ],
  }),
  endpointSchema.parse({
    kind: "Endpoint",
    name: "far",
    group: "hashed",
    node: "node-b",
    addresses: ["10.244.2.13"],
  }),
  serviceSchema.parse({
    kind: "Service",
    name: "idle",
    clusterIPs: ["10.96.0.12"],
    ports: [{ name: "main", port: 80, targetPort: 8080 }],
  }),
];

function preview(
  flags: Readonly<Record<string, string | string[]>>,
  objects: readonly ModelObject[] = OBJECTS,
  { unloaded = [], log = LOG }: { unloaded?: readonly string[]; log?: Log } = {},
): Promise<Preview> {
  const { values } = resolveOptions(IPVS_OPTIONS, [
    flagLayer({ iptablesMode: "legacy", ...flags }),
  ]);
  if (values === undefined) throw new Error("the options are not valid");
  const store = new GlobalStore();
  store.transact("test", (transaction) => transaction.replaceAll(objects));
  store.markSynced("test");
  const ops = new NodeWatcher(store, NODE, KERNEL_SETS).poll() ?? [];
  const world: PreviewWorld = {
    exec: { run: () => Promise.reject(new Error("nothing is to be run")) },
    sysctl: { read: async () => "1" },
    modules: { notLoaded: (names) => names.filter((name) => unloaded.includes(name)) },
    openPlatform: () =>
      Promise.reject(new CoreError("ERR_NOT_POSSIBLE_HERE", "this kernel has no IPVS")),
  };
  const context = { nodeName: NODE, log, stdout: new PassThrough() };
  return previewIpvs(values, context, ops, world);
}

test("the whole plan of a state, as the tools would be given it", async () => {
  const { script, unread } = await preview({ clusterCidr: "10.244.0.0/16" });
  expect(unread).toBe("this kernel has no IPVS");
  expect(script).toMatchInlineSnapshot(`
    "# ip -batch -
    link add kube-ipvs0 type dummy
    link set kube-ipvs0 up arp off
    # ipset restore
    create KUBE-LOOP-BACK hash:ip,port,ip family inet maxelem 4194304
    create KUBE-CLUSTER-IP hash:ip,port family inet maxelem 4194304
    create KUBE-EXTERNAL-IP hash:ip,port family inet maxelem 4194304
    create KUBE-EXTERNAL-IP-LOCAL hash:ip,port family inet maxelem 4194304
    create KUBE-LOAD-BALANCER hash:ip,port family inet maxelem 4194304
    create KUBE-LOAD-BALANCER-LOCAL hash:ip,port family inet maxelem 4194304
    create KUBE-NODE-PORT hash:ip,port family inet maxelem 4194304
    create KUBE-NODE-PORT-LOCAL hash:ip,port family inet maxelem 4194304
    create KUBE-LISTENER hash:ip,port family inet maxelem 4194304
    create KUBE-LISTENER-LOCAL hash:ip,port family inet maxelem 4194304
    create KUBE-LOAD-BALANCER-FW hash:ip,port family inet maxelem 4194304
    create KUBE-LOAD-BALANCER-SOURCE-CIDR hash:ip,port,net family inet maxelem 4194304
    create KUBE-HEALTH-CHECK-NODE-PORT bitmap:port range 0-65535
    create KUBE-IPVS-IPS hash:ip family inet maxelem 4194304
    create KUBE-IPVS-REJECT hash:ip,port family inet maxelem 4194304
    create KUBE-IPVS-DROP hash:ip,port family inet maxelem 4194304
    create KUBE-IPVS-DROP-OUTSIDE hash:ip,port family inet maxelem 4194304
    create KUBE-IPVS-INSIDE hash:ip,port family inet maxelem 4194304 skbinfo
    create KUBE-6-LOOP-BACK hash:ip,port,ip family inet6 maxelem 4194304
    create KUBE-6-CLUSTER-IP hash:ip,port family inet6 maxelem 4194304
    create KUBE-6-EXTERNAL-IP hash:ip,port family inet6 maxelem 4194304
    create KUBE-6-EXTERNAL-IP-LOCAL hash:ip,port family inet6 maxelem 4194304
    create KUBE-6-LOAD-BALANCER hash:ip,port family inet6 maxelem 4194304
    create KUBE-6-LOAD-BALANCER-LOCAL hash:ip,port family inet6 maxelem 4194304
    create KUBE-6-NODE-PORT hash:ip,port family inet6 maxelem 4194304
    create KUBE-6-NODE-PORT-LOCAL hash:ip,port family inet6 maxelem 4194304
    create KUBE-6-LISTENER hash:ip,port family inet6 maxelem 4194304
    create KUBE-6-LISTENER-LOCAL hash:ip,port family inet6 maxelem 4194304
    create KUBE-6-LOAD-BALANCER-FW hash:ip,port family inet6 maxelem 4194304
    create KUBE-6-LOAD-BALANCER-SOURCE-CID hash:ip,port,net family inet6 maxelem 4194304
    create KUBE-6-HEALTH-CHECK-NODE-PORT bitmap:port range 0-65535
    create KUBE-6-IPVS-IPS hash:ip family inet6 maxelem 4194304
    create KUBE-6-IPVS-REJECT hash:ip,port family inet6 maxelem 4194304
    create KUBE-6-IPVS-DROP hash:ip,port family inet6 maxelem 4194304
    create KUBE-6-IPVS-DROP-OUTSIDE hash:ip,port family inet6 maxelem 4194304
    create KUBE-6-IPVS-INSIDE hash:ip,port family inet6 maxelem 4194304 skbinfo
    # ipvsadm -R
    -A -t 10.96.0.10:80 -s wrr -p 600
    -A -t 198.51.100.7:80 -s wrr -p 600
    -A -f 969805553 -s wrr -p 600
    -A -f 969821937 -s wrr -p 600
    -A -t 203.0.113.10:80 -s wrr -p 600
    -A -t 192.168.100.1:30080 -s wrr -p 600
    -A -u 10.96.0.11:53 -s mh -b mh-fallback
    -A -u 192.168.100.1:30053 -s mh -b mh-fallback
    -A --sctp-service 10.96.0.11:3868 -s mh -b mh-fallback
    -a -t 10.96.0.10:80 -r 10.244.1.12:8080 -m -w 1
    -a -t 198.51.100.7:80 -r 10.244.1.12:8080 -m -w 1
    -a -f 969805553 -r 10.244.1.12:8080 -m -w 1
    -a -f 969821937 -r 10.244.1.12:8080 -m -w 1
    -a -t 10.96.0.10:80 -r 10.244.2.12:8080 -m -w 3
    -a -f 969805553 -r 10.244.2.12:8080 -m -w 3
    -a -f 969821937 -r 10.244.2.12:8080 -m -w 3
    -a -t 203.0.113.10:80 -r 10.244.1.12:8080 -m -w 1
    -a -t 192.168.100.1:30080 -r 10.244.1.12:8080 -m -w 1
    -a -u 10.96.0.11:53 -r 10.244.2.13:5353 -m -w 1
    -a -u 192.168.100.1:30053 -r 10.244.2.13:5353 -m -w 1
    -a --sctp-service 10.96.0.11:3868 -r 10.244.2.13:3868 -m -w 1
    # ipset restore
    add KUBE-CLUSTER-IP 10.96.0.10,tcp:80
    add KUBE-IPVS-IPS 10.96.0.10
    add KUBE-EXTERNAL-IP-LOCAL 198.51.100.7,tcp:80
    add KUBE-IPVS-INSIDE 198.51.100.7,tcp:80 skbmark 0x39ce0ef1
    add KUBE-IPVS-IPS 198.51.100.7
    add KUBE-HEALTH-CHECK-NODE-PORT 32000
    add KUBE-LOOP-BACK 10.244.1.12,tcp:8080,10.244.1.12
    add KUBE-LOAD-BALANCER-LOCAL 203.0.113.10,tcp:80
    add KUBE-IPVS-INSIDE 203.0.113.10,tcp:80 skbmark 0x39ce0ef1
    add KUBE-LOAD-BALANCER-SOURCE-CIDR 203.0.113.10,tcp:80,192.0.2.0/24
    add KUBE-LOAD-BALANCER-FW 203.0.113.10,tcp:80
    add KUBE-IPVS-IPS 203.0.113.10
    add KUBE-NODE-PORT-LOCAL 192.168.100.1,tcp:30080
    add KUBE-IPVS-INSIDE 192.168.100.1,tcp:30080 skbmark 0x39ce0ef1
    add KUBE-CLUSTER-IP 10.96.0.11,udp:53
    add KUBE-IPVS-IPS 10.96.0.11
    add KUBE-NODE-PORT 192.168.100.1,udp:30053
    add KUBE-CLUSTER-IP 10.96.0.11,sctp:3868
    add KUBE-IPVS-REJECT 10.96.0.12,tcp:80
    add KUBE-IPVS-IPS 10.96.0.12
    # iptables-legacy-restore -w 30 --noflush
    *mangle
    :KUBE-PROXY-CANARY - [0:0]
    :KUBE-PROXY-FIREWALL - [0:0]
    :KUBE-SOURCE-RANGES-FIREWALL - [0:0]
    :KUBE-IPVS-INSIDERS - [0:0]
    -A KUBE-PROXY-FIREWALL -m set --match-set KUBE-LOAD-BALANCER-FW dst,dst -j KUBE-SOURCE-RANGES-FIREWALL
    -A KUBE-PROXY-FIREWALL -m set --match-set KUBE-IPVS-DROP dst,dst -j DROP
    -A KUBE-PROXY-FIREWALL -s 10.244.0.0/16 -j KUBE-IPVS-INSIDERS
    -A KUBE-PROXY-FIREWALL -m addrtype --src-type LOCAL -j KUBE-IPVS-INSIDERS
    -A KUBE-PROXY-FIREWALL -m set --match-set KUBE-IPVS-DROP-OUTSIDE dst,dst -m mark ! --mark 0x20000000/0x20000000 -j DROP
    -A KUBE-SOURCE-RANGES-FIREWALL -m set --match-set KUBE-LOAD-BALANCER-SOURCE-CIDR dst,dst,src -j RETURN
    -A KUBE-SOURCE-RANGES-FIREWALL -j DROP
    -A KUBE-IPVS-INSIDERS -j SET --map-set KUBE-IPVS-INSIDE dst,dst --map-mark
    -I PREROUTING 1 -m conntrack --ctstate NEW -m comment --comment "kubernetes load balancer firewall" -j KUBE-PROXY-FIREWALL
    -I OUTPUT 1 -m conntrack --ctstate NEW -m comment --comment "kubernetes load balancer firewall" -j KUBE-PROXY-FIREWALL
    COMMIT

    *filter
    :KUBE-PROXY-CANARY - [0:0]
    :KUBE-NODE-PORT - [0:0]
    :KUBE-IPVS-FILTER - [0:0]
    :KUBE-FORWARD - [0:0]
    -A KUBE-NODE-PORT -p tcp -m set --match-set KUBE-HEALTH-CHECK-NODE-PORT dst -m comment --comment "Kubernetes health check node port" -j ACCEPT
    -A KUBE-IPVS-FILTER -p tcp -m set --match-set KUBE-IPVS-REJECT dst,dst -j REJECT --reject-with tcp-reset
    -A KUBE-IPVS-FILTER -m set --match-set KUBE-IPVS-REJECT dst,dst -j REJECT --reject-with icmp-port-unreachable
    -A KUBE-IPVS-FILTER -m set --match-set KUBE-CLUSTER-IP dst,dst -j RETURN
    -A KUBE-IPVS-FILTER -m set --match-set KUBE-EXTERNAL-IP dst,dst -j RETURN
    -A KUBE-IPVS-FILTER -m set --match-set KUBE-EXTERNAL-IP-LOCAL dst,dst -j RETURN
    -A KUBE-IPVS-FILTER -m set --match-set KUBE-LOAD-BALANCER dst,dst -j RETURN
    -A KUBE-IPVS-FILTER -m set --match-set KUBE-LOAD-BALANCER-LOCAL dst,dst -j RETURN
    -A KUBE-IPVS-FILTER -m set --match-set KUBE-NODE-PORT dst,dst -j RETURN
    -A KUBE-IPVS-FILTER -m set --match-set KUBE-NODE-PORT-LOCAL dst,dst -j RETURN
    -A KUBE-IPVS-FILTER -m set --match-set KUBE-LISTENER dst,dst -j RETURN
    -A KUBE-IPVS-FILTER -m set --match-set KUBE-LISTENER-LOCAL dst,dst -j RETURN
    -A KUBE-IPVS-FILTER -p tcp -m set --match-set KUBE-IPVS-IPS dst -j REJECT --reject-with tcp-reset
    -A KUBE-IPVS-FILTER -m set --match-set KUBE-IPVS-IPS dst -j REJECT --reject-with icmp-port-unreachable
    -A KUBE-FORWARD -m mark --mark 0x4000/0x4000 -m comment --comment "kubernetes forwarding rules" -j ACCEPT
    -A KUBE-FORWARD -m conntrack --ctstate RELATED,ESTABLISHED -m comment --comment "kubernetes forwarding conntrack rule" -j ACCEPT
    -I INPUT 1 -m conntrack --ctstate NEW -m comment --comment "kubernetes ipvs access filter" -j KUBE-IPVS-FILTER
    -I INPUT 1 -m comment --comment "kubernetes health check rules" -j KUBE-NODE-PORT
    -I FORWARD 1 -m comment --comment "kubernetes forwarding rules" -j KUBE-FORWARD
    COMMIT

    *nat
    :KUBE-PROXY-CANARY - [0:0]
    :KUBE-SERVICES - [0:0]
    :KUBE-IPVS-LOCAL - [0:0]
    :KUBE-MARK-MASQ - [0:0]
    :KUBE-POSTROUTING - [0:0]
    -A KUBE-SERVICES -m set --match-set KUBE-CLUSTER-IP src,dst -j KUBE-MARK-MASQ
    -A KUBE-SERVICES ! -s 10.244.0.0/16 -m set --match-set KUBE-CLUSTER-IP dst,dst -j KUBE-MARK-MASQ
    -A KUBE-SERVICES -m set --match-set KUBE-EXTERNAL-IP dst,dst -j KUBE-MARK-MASQ
    -A KUBE-SERVICES -m set --match-set KUBE-LOAD-BALANCER dst,dst -j KUBE-MARK-MASQ
    -A KUBE-SERVICES -m set --match-set KUBE-NODE-PORT dst,dst -j KUBE-MARK-MASQ
    -A KUBE-SERVICES -m set --match-set KUBE-LISTENER dst,dst -j KUBE-MARK-MASQ
    -A KUBE-SERVICES -m set --match-set KUBE-EXTERNAL-IP-LOCAL dst,dst -j KUBE-IPVS-LOCAL
    -A KUBE-SERVICES -m set --match-set KUBE-LOAD-BALANCER-LOCAL dst,dst -j KUBE-IPVS-LOCAL
    -A KUBE-SERVICES -m set --match-set KUBE-NODE-PORT-LOCAL dst,dst -j KUBE-IPVS-LOCAL
    -A KUBE-SERVICES -m set --match-set KUBE-LISTENER-LOCAL dst,dst -j KUBE-IPVS-LOCAL
    -A KUBE-SERVICES -m set --match-set KUBE-CLUSTER-IP dst,dst -j ACCEPT
    -A KUBE-SERVICES -m set --match-set KUBE-EXTERNAL-IP dst,dst -j ACCEPT
    -A KUBE-SERVICES -m set --match-set KUBE-EXTERNAL-IP-LOCAL dst,dst -j ACCEPT
    -A KUBE-SERVICES -m set --match-set KUBE-LOAD-BALANCER dst,dst -j ACCEPT
    -A KUBE-SERVICES -m set --match-set KUBE-LOAD-BALANCER-LOCAL dst,dst -j ACCEPT
    -A KUBE-SERVICES -m set --match-set KUBE-NODE-PORT dst,dst -j ACCEPT
    -A KUBE-SERVICES -m set --match-set KUBE-NODE-PORT-LOCAL dst,dst -j ACCEPT
    -A KUBE-SERVICES -m set --match-set KUBE-LISTENER dst,dst -j ACCEPT
    -A KUBE-SERVICES -m set --match-set KUBE-LISTENER-LOCAL dst,dst -j ACCEPT
    -A KUBE-IPVS-LOCAL -s 10.244.0.0/16 -j RETURN
    -A KUBE-IPVS-LOCAL -m addrtype --src-type LOCAL -j KUBE-MARK-MASQ
    -A KUBE-MARK-MASQ -j MARK --set-xmark 0x4000/0x4000
    -A KUBE-POSTROUTING -m set --match-set KUBE-LOOP-BACK dst,dst,src -m comment --comment "Kubernetes endpoints dst ip:port, source ip for solving hairpin purpose" -j MASQUERADE
    -A KUBE-POSTROUTING -m mark ! --mark 0x4000/0x4000 -j RETURN
    -A KUBE-POSTROUTING -j MARK --set-xmark 0x4000/0x0
    -A KUBE-POSTROUTING -m comment --comment "kubernetes service traffic requiring SNAT" -j MASQUERADE --random-fully
    -I PREROUTING 1 -m comment --comment "kubernetes service portals" -j KUBE-SERVICES
    -I OUTPUT 1 -m comment --comment "kubernetes service portals" -j KUBE-SERVICES
    -I POSTROUTING 1 -m comment --comment "kubernetes postrouting rules" -j KUBE-POSTROUTING
    COMMIT
    # ip -batch -
    address add 10.96.0.10/32 dev kube-ipvs0 scope host
    address add 198.51.100.7/32 dev kube-ipvs0 scope host
    address add 203.0.113.10/32 dev kube-ipvs0 scope host
    address add 10.96.0.11/32 dev kube-ipvs0 scope host
    address add 10.96.0.12/32 dev kube-ipvs0 scope host
    # ipvsadm -R
    -A -t [fd00:96::10]:80 -s wrr -p 600
    -A -t [fd00:100::1]:30080 -s wrr -p 600
    -A -f 969805553 -6 -s wrr -p 600
    -A -f 969821937 -6 -s wrr -p 600
    -a -t [fd00:96::10]:80 -r [fd00:244:1::12]:8080 -m -w 1
    -a -t [fd00:100::1]:30080 -r [fd00:244:1::12]:8080 -m -w 1
    -a -f 969805553 -6 -r [fd00:244:1::12]:8080 -m -w 1
    -a -f 969821937 -6 -r [fd00:244:1::12]:8080 -m -w 1
    # ipset restore
    add KUBE-6-CLUSTER-IP fd00:96::10,tcp:80
    add KUBE-6-IPVS-IPS fd00:96::10
    add KUBE-6-HEALTH-CHECK-NODE-PORT 32000
    add KUBE-6-LOOP-BACK fd00:244:1::12,tcp:8080,fd00:244:1::12
    add KUBE-6-NODE-PORT-LOCAL fd00:100::1,tcp:30080
    add KUBE-6-IPVS-INSIDE fd00:100::1,tcp:30080 skbmark 0x39ce0ef1
    add KUBE-6-IPVS-REJECT fd00:100::1,udp:30053
    # ip6tables-legacy-restore -w 30 --noflush
    *mangle
    :KUBE-PROXY-CANARY - [0:0]
    :KUBE-PROXY-FIREWALL - [0:0]
    :KUBE-SOURCE-RANGES-FIREWALL - [0:0]
    :KUBE-IPVS-INSIDERS - [0:0]
    -A KUBE-PROXY-FIREWALL -m set --match-set KUBE-6-LOAD-BALANCER-FW dst,dst -j KUBE-SOURCE-RANGES-FIREWALL
    -A KUBE-PROXY-FIREWALL -m set --match-set KUBE-6-IPVS-DROP dst,dst -j DROP
    -A KUBE-PROXY-FIREWALL -m addrtype --src-type LOCAL -j KUBE-IPVS-INSIDERS
    -A KUBE-PROXY-FIREWALL -m set --match-set KUBE-6-IPVS-DROP-OUTSIDE dst,dst -m mark ! --mark 0x20000000/0x20000000 -j DROP
    -A KUBE-SOURCE-RANGES-FIREWALL -m set --match-set KUBE-6-LOAD-BALANCER-SOURCE-CID dst,dst,src -j RETURN
    -A KUBE-SOURCE-RANGES-FIREWALL -j DROP
    -A KUBE-IPVS-INSIDERS -j SET --map-set KUBE-6-IPVS-INSIDE dst,dst --map-mark
    -I PREROUTING 1 -m conntrack --ctstate NEW -m comment --comment "kubernetes load balancer firewall" -j KUBE-PROXY-FIREWALL
    -I OUTPUT 1 -m conntrack --ctstate NEW -m comment --comment "kubernetes load balancer firewall" -j KUBE-PROXY-FIREWALL
    COMMIT

    *filter
    :KUBE-PROXY-CANARY - [0:0]
    :KUBE-NODE-PORT - [0:0]
    :KUBE-IPVS-FILTER - [0:0]
    :KUBE-FORWARD - [0:0]
    -A KUBE-NODE-PORT -p tcp -m set --match-set KUBE-6-HEALTH-CHECK-NODE-PORT dst -m comment --comment "Kubernetes health check node port" -j ACCEPT
    -A KUBE-IPVS-FILTER -p tcp -m set --match-set KUBE-6-IPVS-REJECT dst,dst -j REJECT --reject-with tcp-reset
    -A KUBE-IPVS-FILTER -m set --match-set KUBE-6-IPVS-REJECT dst,dst -j REJECT --reject-with icmp6-port-unreachable
    -A KUBE-IPVS-FILTER -m set --match-set KUBE-6-CLUSTER-IP dst,dst -j RETURN
    -A KUBE-IPVS-FILTER -m set --match-set KUBE-6-EXTERNAL-IP dst,dst -j RETURN
    -A KUBE-IPVS-FILTER -m set --match-set KUBE-6-EXTERNAL-IP-LOCAL dst,dst -j RETURN
    -A KUBE-IPVS-FILTER -m set --match-set KUBE-6-LOAD-BALANCER dst,dst -j RETURN
    -A KUBE-IPVS-FILTER -m set --match-set KUBE-6-LOAD-BALANCER-LOCAL dst,dst -j RETURN
    -A KUBE-IPVS-FILTER -m set --match-set KUBE-6-NODE-PORT dst,dst -j RETURN
    -A KUBE-IPVS-FILTER -m set --match-set KUBE-6-NODE-PORT-LOCAL dst,dst -j RETURN
    -A KUBE-IPVS-FILTER -m set --match-set KUBE-6-LISTENER dst,dst -j RETURN
    -A KUBE-IPVS-FILTER -m set --match-set KUBE-6-LISTENER-LOCAL dst,dst -j RETURN
    -A KUBE-IPVS-FILTER -p tcp -m set --match-set KUBE-6-IPVS-IPS dst -j REJECT --reject-with tcp-reset
    -A KUBE-IPVS-FILTER -m set --match-set KUBE-6-IPVS-IPS dst -j REJECT --reject-with icmp6-port-unreachable
    -A KUBE-FORWARD -m mark --mark 0x4000/0x4000 -m comment --comment "kubernetes forwarding rules" -j ACCEPT
    -A KUBE-FORWARD -m conntrack --ctstate RELATED,ESTABLISHED -m comment --comment "kubernetes forwarding conntrack rule" -j ACCEPT
    -I INPUT 1 -m conntrack --ctstate NEW -m comment --comment "kubernetes ipvs access filter" -j KUBE-IPVS-FILTER
    -I INPUT 1 -m comment --comment "kubernetes health check rules" -j KUBE-NODE-PORT
    -I FORWARD 1 -m comment --comment "kubernetes forwarding rules" -j KUBE-FORWARD
    COMMIT

    *nat
    :KUBE-PROXY-CANARY - [0:0]
    :KUBE-SERVICES - [0:0]
    :KUBE-IPVS-LOCAL - [0:0]
    :KUBE-MARK-MASQ - [0:0]
    :KUBE-POSTROUTING - [0:0]
    -A KUBE-SERVICES -m set --match-set KUBE-6-CLUSTER-IP src,dst -j KUBE-MARK-MASQ
    -A KUBE-SERVICES -m set --match-set KUBE-6-EXTERNAL-IP dst,dst -j KUBE-MARK-MASQ
    -A KUBE-SERVICES -m set --match-set KUBE-6-LOAD-BALANCER dst,dst -j KUBE-MARK-MASQ
    -A KUBE-SERVICES -m set --match-set KUBE-6-NODE-PORT dst,dst -j KUBE-MARK-MASQ
    -A KUBE-SERVICES -m set --match-set KUBE-6-LISTENER dst,dst -j KUBE-MARK-MASQ
    -A KUBE-SERVICES -m set --match-set KUBE-6-EXTERNAL-IP-LOCAL dst,dst -j KUBE-IPVS-LOCAL
    -A KUBE-SERVICES -m set --match-set KUBE-6-LOAD-BALANCER-LOCAL dst,dst -j KUBE-IPVS-LOCAL
    -A KUBE-SERVICES -m set --match-set KUBE-6-NODE-PORT-LOCAL dst,dst -j KUBE-IPVS-LOCAL
    -A KUBE-SERVICES -m set --match-set KUBE-6-LISTENER-LOCAL dst,dst -j KUBE-IPVS-LOCAL
    -A KUBE-SERVICES -m set --match-set KUBE-6-CLUSTER-IP dst,dst -j ACCEPT
    -A KUBE-SERVICES -m set --match-set KUBE-6-EXTERNAL-IP dst,dst -j ACCEPT
    -A KUBE-SERVICES -m set --match-set KUBE-6-EXTERNAL-IP-LOCAL dst,dst -j ACCEPT
    -A KUBE-SERVICES -m set --match-set KUBE-6-LOAD-BALANCER dst,dst -j ACCEPT
    -A KUBE-SERVICES -m set --match-set KUBE-6-LOAD-BALANCER-LOCAL dst,dst -j ACCEPT
    -A KUBE-SERVICES -m set --match-set KUBE-6-NODE-PORT dst,dst -j ACCEPT
    -A KUBE-SERVICES -m set --match-set KUBE-6-NODE-PORT-LOCAL dst,dst -j ACCEPT
    -A KUBE-SERVICES -m set --match-set KUBE-6-LISTENER dst,dst -j ACCEPT
    -A KUBE-SERVICES -m set --match-set KUBE-6-LISTENER-LOCAL dst,dst -j ACCEPT
    -A KUBE-IPVS-LOCAL -m addrtype --src-type LOCAL -j KUBE-MARK-MASQ
    -A KUBE-MARK-MASQ -j MARK --set-xmark 0x4000/0x4000
    -A KUBE-POSTROUTING -m set --match-set KUBE-6-LOOP-BACK dst,dst,src -m comment --comment "Kubernetes endpoints dst ip:port, source ip for solving hairpin purpose" -j MASQUERADE
    -A KUBE-POSTROUTING -m mark ! --mark 0x4000/0x4000 -j RETURN
    -A KUBE-POSTROUTING -j MARK --set-xmark 0x4000/0x0
    -A KUBE-POSTROUTING -m comment --comment "kubernetes service traffic requiring SNAT" -j MASQUERADE --random-fully
    -I PREROUTING 1 -m comment --comment "kubernetes service portals" -j KUBE-SERVICES
    -I OUTPUT 1 -m comment --comment "kubernetes service portals" -j KUBE-SERVICES
    -I POSTROUTING 1 -m comment --comment "kubernetes postrouting rules" -j KUBE-POSTROUTING
    COMMIT
    # ip -batch -
    address add fd00:96::10/128 dev kube-ipvs0 nodad preferred_lft 0
    "
  `);
});

test("time-outs and strict ARP are in it where they are asked for", async () => {
  const { script } = await preview({ ipvsTcpTimeout: "15m", ipvsStrictArp: "true" });
  expect(script).toContain("sysctl -w net.ipv4.conf.all.arp_announce=2\n");
  expect(script).toContain("# ipvsadm -R\n--set 900 0 0\n");
});

test("with policy Local and no endpoint here, outsiders are dropped and insiders are led on", async () => {
  const isHere = (one: ModelObject): boolean => one.kind === "Endpoint" && one.node === NODE;
  const { script } = await preview(
    {},
    OBJECTS.filter((one) => !isHere(one)),
  );
  expect(script).toContain("add KUBE-IPVS-DROP-OUTSIDE 203.0.113.10,tcp:80\n");
  expect(script).toMatch(/add KUBE-IPVS-INSIDE 203\.0\.113\.10,tcp:80 /);
});

test("modules that would be loaded stand in it, and what is left to others is told", async () => {
  const told: string[] = [];
  const log: Log = { ...LOG, warn: (_, message) => void told.push(message) };
  const { script } = await preview({ ipvsExcludeCidrs: ["198.51.100.0/24"] }, OBJECTS, {
    unloaded: ["ip_vs", "ip_vs_wrr", "ip_vs_mh"],
    log,
  });
  expect(script.startsWith("# modules of the kernel\nmodprobe -a ip_vs ip_vs_wrr\n")).toBe(true);
  expect(script).not.toContain("198.51.100.7");
  expect(told.join("\n")).toContain("198.51.100.7 is in --ipvs-exclude-cidrs");
});
