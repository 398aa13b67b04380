import { generate } from "selfsigned";
import { expect, test } from "vitest";
import { CERT_FILE, KEY_FILE } from "../control-world.fixture.ts";
import { TypedControl } from "../typed.fixture.ts";

test("an upstream without groups leads nowhere, not to a group of its own name", async () => {
  const instance = new TypedControl();
  await instance.typeAll(
    "add upstream u0",
    "add server-group u0",
    "add server s1 to sg u0 address 10.0.0.1:80",
  );
  const state = instance.world.store.state().services.get("default/u0");
  expect(state?.service).toMatchObject({ type: "Plain", ports: [{ name: "", port: 1 }] });
  expect(
    state?.groups.map(({ ref, state: group }) => [ref.weight, group.endpoints.length]),
  ).toEqual([[0, 0]]);
  expect(await instance.names("list server-group in upstream u0")).toEqual([]);
  expect(await instance.records("list-detail upstream")).toEqual([
    { name: "u0", "server-groups": [], owner: "control" },
  ]);
  await instance.type("add server-group u0 to upstream u0");
  expect(instance.world.store.get("Service", "default/u0")?.groups).toEqual([
    { group: "default/u0", weight: 10, hints: { host: "", port: 0, path: "" } },
  ]);
  await instance.type("remove server-group u0 from upstream u0");
  expect(instance.world.store.get("Service", "default/u0")?.groups).toHaveLength(1);
  expect(await instance.names("list server-group in upstream u0")).toEqual([]);
});

test("the group that a service has without a name is told of, and can be given one", async () => {
  const instance = new TypedControl();
  await instance.typeAll(
    "add service web ports http:80:8080/tcp",
    "add endpoint e1 to service web address 10.0.0.1",
  );
  await expect(instance.type("list server in server-group web")).rejects.toMatchObject({
    code: "ERR_NOT_FOUND",
    message: expect.stringContaining('"add server-group web" makes it a group like any other'),
  });
  await instance.type("add server-group web");
  expect(await instance.names("list server in server-group web")).toEqual(["e1"]);
});

test("a service sends to its own endpoints, or to the groups that it is given", async () => {
  const instance = new TypedControl();
  await instance.typeAll(
    "add service web ports http:80:8080/tcp",
    "add endpoint e1 to service web address 10.0.0.1",
    "add server-group g0",
  );
  expect(await instance.type("add server-group g0 to service web")).toEqual({
    kind: "done",
    note: "service web sends no more to its own 1 endpoints",
  });
  expect(await instance.type("add endpoint e2 to service web address 10.0.0.2")).toMatchObject({
    note: expect.stringContaining("sends to its server groups"),
  });
  await instance.type("remove server-group g0 from service web");
  expect(instance.world.store.get("Service", "default/web")?.groups).toEqual([]);
});

test("a server group has the words of its check, its method and its hints", async () => {
  const instance = new TypedControl();
  await instance.typeAll(
    "add server-group g0",
    "add server-group g1 timeout 500 period 1000 up 1 down 4 method wlc protocol http check-path /ok check-host a.example check-status 2xx,304 check-method HEAD slow-start 9000 hint-host *.a.example hint-port 8080 hint-path /api",
    "add server-group g2 protocol dns check-name a.example method SOURCE",
  );
  const group = (name: string) => instance.world.store.get("Group", `default/${name}`);
  expect(group("g0")).toMatchObject({
    method: "weighted-round-robin",
    healthCheck: { protocol: "tcp", timeoutMs: 2000, intervalMs: 5000, up: 2, down: 3 },
  });
  expect(group("g1")).toMatchObject({
    method: "least-connections",
    healthCheck: {
      protocol: "http",
      timeoutMs: 500,
      intervalMs: 1000,
      up: 1,
      down: 4,
      http: { method: "HEAD", path: "/ok", host: "a.example", status: ["2xx", "304"] },
    },
    slowStartMs: 9000,
    hints: { host: "*.a.example", port: 8080, path: "/api" },
  });
  expect(group("g2")).toMatchObject({
    method: "source-hash",
    healthCheck: { dnsName: "a.example" },
  });
});

test("annotations are other words for hints and checks; parameters win; the rest is kept", async () => {
  const instance = new TypedControl();
  const annotations = JSON.stringify({
    "vproxy/hint-host": "a.example",
    "vproxy/hint-port": "8080",
    "vproxy/hint-uri": "*",
    "vproxy/hc-http-url": "/health",
    "vproxy/hc-http-status": "2xx,3xx",
    "vproxy/hc-http-method": "HEAD",
    "vproxy/hc-http-host": "b.example",
    "vproxy/hc-dns-domain": "c.example",
    team: "shop",
  });
  await instance.typeAll(`add server-group g0 hint-host z.example annotations ${annotations}`);
  expect(instance.world.store.get("Group", "default/g0")).toMatchObject({
    annotations: { team: "shop" },
    hints: { host: "z.example", port: 8080, path: "/" },
    healthCheck: {
      http: { path: "/health", status: ["2xx", "3xx"], method: "HEAD", host: "b.example" },
      dnsName: "c.example",
    },
  });
  expect(
    await instance.refusal('add server-group g1 annotations {"vproxy/hint-port":"many"}'),
  ).toMatch(/^ERR_USAGE annotations\.hint-port: "many"/);
  await instance.type("add upstream u0");
  expect(
    await instance.refusal(
      'add server-group g0 to upstream u0 annotations {"vproxy/hc-http-url":"/"}',
    ),
  ).toMatch(/^ERR_USAGE annotations/);
  expect(await instance.refusal('add server-group g1 annotations {"__proto__":"x"}')).toMatch(
    /^ERR_USAGE/,
  );
});

test("a server is an endpoint of its group, by address, name or path", async () => {
  const instance = new TypedControl();
  await instance.typeAll(
    "add server-group g0",
    "add server s1 to server-group g0 address [2001:DB8::1]:80",
    "add server s2 to server-group g0 address db.example:5432 weight 0",
    "update server s1 in server-group g0 address 10.0.0.1:81",
  );
  const server = (name: string) => instance.world.store.get("Endpoint", `default/g0/${name}`);
  expect(server("s1")).toMatchObject({
    addresses: ["10.0.0.1"],
    hostName: "",
    ports: [{ name: "", port: 81 }],
    weight: 10,
  });
  expect(server("s2")).toMatchObject({ addresses: [], hostName: "db.example", weight: 0 });
  await instance.typeAll("add server s3 to server-group g0 address unix:/run/s.sock");
  expect(server("s3")).toMatchObject({ addresses: [], hostName: "/run/s.sock", ports: [] });
  const [, , listed] = await instance.records("list-detail server in server-group g0");
  expect(listed).toMatchObject({ address: "unix:/run/s.sock" });
  expect(
    await instance.refusal("update server s3 in server-group g0 address unix:run/s.sock"),
  ).toMatch(/^ERR_USAGE address: .*the path of a unix socket: from \/ on/);
  expect(await instance.refusal("update server s3 in server-group g0 no-ipv4")).toMatch(
    /given by its name/,
  );
});

test("listeners of each mode have their words", async () => {
  const instance = new TypedControl();
  await instance.typeAll(
    "add upstream u0",
    "add security-group secg0 default deny",
    `add cert-key c0 cert ${CERT_FILE} key ${KEY_FILE}`,
    "add event-loop-group elg0",
    "add tcp-lb lb0 address [::]:443 upstream u0 service-port p protocol HTTP/1.x acceptor-elg elg0 event-loop-group elg0 timeout 1 connect-timeout 2 in-buffer-size 512 out-buffer-size 1024 cert-key c0 client-ca /ca.pem security-group secg0 proxy-protocol v2 accept-proxy-from 10.1.2.3/8,fd00::/8 trusted-hops 10.0.0.0/8 not-falls-back node n1",
    "add tcp-lb lb1 address sock:/run/lb1.sock upstream u0",
    "add udp-lb ulb0 address 0.0.0.0:53 upstream u0 timeout 3",
    "add socks5-server s5 address 0.0.0.0:1080 upstream u0 allow-non-backend users /users falls-back",
    "add dns-server dns0 address 127.0.0.1:53 upstream u0 hosts /hosts forward-to 192.0.2.1,[2001:db8::1]:53 allow-non-backend",
  );
  const listener = (name: string) => instance.world.store.get("Listener", `default/${name}`);
  expect(listener("lb0")).toEqual({
    kind: "Listener",
    namespace: "default",
    name: "lb0",
    labels: {},
    annotations: {},
    address: "::",
    port: 443,
    service: "default/u0",
    servicePort: "p",
    mode: "http",
    tls: { certificates: ["default/c0"], clientCaFile: "/ca.pem", peers: [] },
    proxyProtocol: { send: "v2", acceptFrom: ["10.0.0.0/8", "fd00::/8"] },
    securityGroup: "default/secg0",
    idleTimeoutMs: 1,
    connectTimeoutMs: 2,
    inBufferBytes: 512,
    outBufferBytes: 1024,
    acceptLoops: "elg0",
    workLoops: "elg0",
    fallsBack: false,
    allowOthers: false,
    usersFile: "",
    trustedHops: ["10.0.0.0/8"],
    hostsFile: "",
    forwardTo: [],
    dnsTtlSeconds: 5,
    node: "n1",
  });
  expect(listener("lb1")).toMatchObject({
    address: "/run/lb1.sock",
    port: 0,
    mode: "tcp",
    fallsBack: true,
  });
  expect(listener("ulb0")).toMatchObject({ mode: "udp", idleTimeoutMs: 3 });
  expect(listener("s5")).toMatchObject({
    mode: "socks5",
    allowOthers: true,
    usersFile: "/users",
    fallsBack: true,
  });
  expect(listener("dns0")).toMatchObject({
    mode: "dns",
    hostsFile: "/hosts",
    forwardTo: ["192.0.2.1", "[2001:db8::1]:53"],
    allowOthers: true,
    fallsBack: false,
  });
  await instance.type("update socks5-server s5 deny-non-backend not-falls-back");
  expect(listener("s5")).toMatchObject({ allowOthers: false, fallsBack: false });
  expect(
    await instance.refusal("update socks5-server s5 deny-non-backend allow-non-backend"),
  ).toMatch(/^ERR_USAGE/);
  expect(await instance.refusal("add udp-lb lb2 address unix:/run/lb2.sock upstream u0")).toMatch(
    /^ERR_USAGE address: "unix:/,
  );
  expect(await instance.refusal("add tcp-lb lb2 address unix:lb2.sock upstream u0")).toMatch(
    /^ERR_USAGE address: "unix:/,
  );
  expect(await instance.refusal("add tcp-lb lb2 address host.example:80 upstream u0")).toMatch(
    /^ERR_USAGE address: "host.example"/,
  );
});

test("a service has the words of Kubernetes", async () => {
  const instance = new TypedControl();
  await instance.typeAll(
    "add service web type LoadBalancer cluster-ips 10.96.0.10,FD00::10 external-ips 192.0.2.1 load-balancer-ips 192.0.2.2 ports http:80:8080/tcp@30080,dns:53/udp,90:named affinity 60 internal-policy local external-policy Local source-ranges 10.0.0.0/8 health-check-node-port 31000",
    "add endpoint e1 to service web address 10.1.0.1,fd00:1::1 ports http=8080,dns=53 node n1 zone a weight 3 not-ready",
    "add endpoint e2 to service web address pod.example ports 8080",
  );
  expect(instance.world.store.get("Service", "default/web")).toMatchObject({
    type: "LoadBalancer",
    clusterIPs: ["10.96.0.10", "fd00::10"],
    externalIPs: ["192.0.2.1"],
    loadBalancerIPs: ["192.0.2.2"],
    ports: [
      {
        name: "http",
        port: 80,
        targetPort: 8080,
        protocol: "TCP",
        nodePort: 30_080,
        targetPortName: "",
      },
      { name: "dns", port: 53, targetPort: 0, protocol: "UDP", nodePort: 0, targetPortName: "" },
      { name: "", port: 90, targetPort: 0, protocol: "TCP", nodePort: 0, targetPortName: "named" },
    ],
    affinitySeconds: 60,
    internalTrafficPolicy: "Local",
    externalTrafficPolicy: "Local",
    sourceRanges: ["10.0.0.0/8"],
    healthCheckNodePort: 31_000,
  });
  expect(instance.world.store.get("Endpoint", "default/web/e1")).toMatchObject({
    addresses: ["10.1.0.1", "fd00:1::1"],
    ports: [
      { name: "http", port: 8080 },
      { name: "dns", port: 53 },
    ],
    node: "n1",
    zone: "a",
    weight: 3,
    ready: false,
  });
  expect(instance.world.store.get("Endpoint", "default/web/e2")).toMatchObject({
    hostName: "pod.example",
    ports: [{ name: "", port: 8080 }],
    weight: 1,
  });
  expect(await instance.refusal("add service two ports 80,80")).toMatch(/^ERR_USAGE .*ports/);
  expect(await instance.refusal("add service two ports 80/icmp,0,1:2:3:4")).toMatch(
    /ports: "80\/icmp".*\n.*ports: "0".*\n.*ports: "1:2:3:4"/,
  );
});

test("rules of a security group have a network, a protocol and ports", async () => {
  const instance = new TypedControl();
  await instance.typeAll(
    "add security-group secg0 default deny",
    "add security-group-rule r0 to security-group secg0 network 10.1.2.3/8 protocol tcp port-range 80,90 default allow",
    "add security-group-rule r1 to security-group secg0 network ::/0 port-range 53 default deny",
    "update security-group-rule r1 in security-group secg0 default allow",
  );
  expect(instance.world.store.get("SecurityGroup", "default/secg0")?.rules).toEqual([
    {
      name: "r0",
      network: "10.0.0.0/8",
      protocol: "TCP",
      minPort: 80,
      maxPort: 90,
      access: "allow",
    },
    { name: "r1", network: "::/0", protocol: "any", minPort: 53, maxPort: 53, access: "allow" },
  ]);
  expect(await instance.records("list-detail security-group")).toEqual([
    { name: "secg0", default: "deny", rules: ["r0", "r1"], owner: "control" },
  ]);
});

test("files of certificates are looked at before a cert-key is there", async () => {
  const instance = new TypedControl();
  const refusal = await instance.refusal(
    `add cert-key c0 cert ${KEY_FILE},/nowhere key ${CERT_FILE}`,
  );
  expect(refusal).toMatch(
    /^ERR_USAGE cert: .*certificate.*\ncert: .*no such file.*\nkey: .*private key/,
  );
  expect(await instance.names("list cert-key")).toEqual([]);
});

test("a key that does not belong to its certificate is refused, also when one of both is changed", async () => {
  const instance = new TypedControl();
  const other = await generate([{ name: "commonName", value: "other.example" }], { keyType: "ec" });
  instance.world.files.set("/pem/other.key", other.private);
  const unfit = /^ERR_USAGE key: "\/pem\/other\.key".*does not belong to the certificate/;
  expect(await instance.refusal(`add cert-key c0 cert ${CERT_FILE} key /pem/other.key`)).toMatch(
    unfit,
  );
  await instance.type(`add cert-key c0 cert ${CERT_FILE} key ${KEY_FILE}`);
  expect(await instance.refusal("update cert-key c0 key /pem/other.key")).toMatch(unfit);
});
