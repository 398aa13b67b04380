import { describe, expect, test } from "vitest";
import { parseKind, parseObject } from "../../core/model/parse.ts";
import { GlobalStore } from "../../core/store/global-store.ts";
import { TypedControl } from "../typed.fixture.ts";

async function balancer(): Promise<TypedControl> {
  const instance = new TypedControl();
  await instance.typeAll(
    "add upstream u0",
    "add server-group g0",
    "add server s1 to server-group g0 address 10.0.2.1:80",
    "add server-group g0 to upstream u0",
    "add tcp-lb lb0 address 0.0.0.0:80 upstream u0",
  );
  return instance;
}

/** What another source has said. */
function foreignStore(): GlobalStore {
  const store = new GlobalStore();
  store.transact("file", (transaction) => {
    transaction.set(parseKind("Service", { name: "web", ports: [{ port: 80 }] }));
    transaction.set(parseKind("Service", { name: "u9", type: "Plain", ports: [{ port: 1 }] }));
    transaction.set(parseKind("Group", { name: "g9" }));
    transaction.set(
      parseKind("Endpoint", {
        name: "s9",
        group: "g9",
        addresses: ["10.0.0.9"],
        ports: [{ port: 80 }],
      }),
    );
    transaction.set(
      parseKind("Listener", { name: "lb9", address: "127.0.0.1", port: 99, service: "default/u9" }),
    );
    transaction.set(parseKind("Certificate", { name: "c9", certFiles: ["a"], keyFile: "b" }));
    transaction.set(parseKind("SecurityGroup", { name: "secg9", defaultAccess: "deny" }));
  });
  return store;
}

describe("names", () => {
  test("a name is of the namespace default, and is shown without it", async () => {
    const instance = new TypedControl();
    await instance.typeAll("add upstream u0", "add upstream default/u1", "add upstream shop/u0");
    expect(await instance.names("list upstream")).toEqual(["shop/u0", "u0", "u1"]);
    expect(instance.world.store.get("Service", "shop/u0")?.namespace).toBe("shop");
  });

  test.each([
    "(none)",
    "in",
    "tcp-lb",
    "list",
    "a,b",
    '"a b"',
    '"a\\u001b[2J"',
    "a/b/c",
    "/a",
    '""',
  ])("%s is refused as a name", async (name) => {
    const instance = new TypedControl();
    expect(await instance.refusal(`add upstream ${name}`)).toMatch(/^ERR_USAGE .*name/);
  });

  test("a name that is not valid is told with all else that is wrong", async () => {
    const instance = new TypedControl();
    const refusal = await instance.refusal(
      "add security-group-rule (x to security-group secg0 network here port-range 90,80 default allow",
    );
    expect(refusal).toMatch(/name.*\n.*network.*\n.*port-range/);
  });

  test("listeners share one name space", async () => {
    const instance = await balancer();
    expect(
      await instance.refusal("add socks5-server lb0 address 127.0.0.1:1080 upstream u0"),
    ).toMatch(/^ERR_KEY_TAKEN .*tcp-lb lb0/);
    expect(await instance.refusal("remove socks5-server lb0")).toMatch(
      /^ERR_NOT_FOUND .*the name is that of tcp-lb lb0/,
    );
  });

  test("what is not there is told with the nearest name", async () => {
    const instance = await balancer();
    expect(await instance.refusal("update tcp-lb lb1 timeout 1")).toBe(
      'ERR_NOT_FOUND there is no tcp-lb "lb1"; did you mean "lb0"?',
    );
    expect(await instance.refusal("update server t1 in server-group g0 weight 1")).toMatch(
      /^ERR_NOT_FOUND there is no server in server-group g0 "t1"; did you mean "s1"/,
    );
  });
});

describe("what other sources own", () => {
  test.each([
    "update service web affinity 10",
    "remove upstream u9",
    "force-remove upstream u9",
    "update server-group g9 method rr",
    "add server s1 to server-group g9 address 10.0.0.1:80",
    "update server s9 in server-group g9 weight 1",
    "remove server s9 from server-group g9",
    "add server-group g9 to upstream u9",
    "add endpoint e1 to service web address 10.0.0.1",
    "update tcp-lb lb9 timeout 1000",
    "remove cert-key c9",
    "update security-group secg9 default allow",
    "add security-group-rule r0 to security-group secg9 network 10.0.0.0/8 default allow",
  ])("%s is refused by the name of the owner", async (line) => {
    const instance = new TypedControl({ store: foreignStore() });
    expect(await instance.refusal(line)).toMatch(/^ERR_NOT_OURS .*"file"/);
    expect(instance.world.commits).toEqual([]);
  });

  test("it is listed with its owner, can be named, and its names are taken", async () => {
    const instance = new TypedControl({ store: foreignStore() });
    expect(await instance.records("list-detail server-group")).toMatchObject([
      { name: "g9", owner: "file" },
    ]);
    await instance.typeAll(
      "add upstream u0",
      "add server-group g9 to upstream u0",
      "add tcp-lb lb0 address 127.0.0.1:80 upstream u9 cert-key c9 security-group secg9",
    );
    expect(await instance.refusal("add server-group g9")).toMatch(/^ERR_KEY_TAKEN .*"file"/);
    expect(await instance.refusal("add tcp-lb lb1 address 127.0.0.1:99 upstream u9")).toMatch(
      /^ERR_ADDRESS_TAKEN/,
    );
  });
});

describe("references", () => {
  test.each([
    ["add tcp-lb lb1 address 0.0.0.0:81 upstream nowhere", "upstream"],
    ["add tcp-lb lb1 address 0.0.0.0:81 upstream u0 security-group nobody", "security-group"],
    ["add tcp-lb lb1 address 0.0.0.0:81 upstream u0 cert-key nothing", "cert-key"],
    ["add tcp-lb lb1 address 0.0.0.0:81 upstream u0 event-loop-group none", "event-loop-group"],
    ["add server-group g1 to upstream u0", "server-group"],
    ["update tcp-lb lb0 upstream nowhere", "upstream"],
  ])("%s is refused", async (line, type) => {
    const instance = await balancer();
    expect(await instance.refusal(line)).toMatch(new RegExp(`^ERR_NOT_FOUND there is no ${type} `));
  });

  test("where no engine is in this process, groups of event loops can not be known", async () => {
    const instance = new TypedControl({ engine: null });
    await instance.typeAll(
      "add upstream u0",
      "add tcp-lb lb0 address 0.0.0.0:80 upstream u0 event-loop-group elsewhere",
    );
    expect(await instance.names("list tcp-lb")).toEqual(["lb0"]);
  });

  test("what is used can not be removed, and who uses it is told", async () => {
    const instance = await balancer();
    await instance.typeAll(
      "add security-group secg0 default deny",
      "add cert-key c0 cert /pem/site.pem key /pem/site.key",
      "update tcp-lb lb0 security-group secg0 cert-key c0",
    );
    expect(await instance.refusal("remove upstream u0")).toMatch(/^ERR_IN_USE .*by tcp-lb lb0/);
    expect(await instance.refusal("remove service u0")).toMatch(/^ERR_IN_USE .*by tcp-lb lb0/);
    expect(await instance.refusal("remove server-group g0")).toMatch(
      /^ERR_IN_USE .*by upstream u0/,
    );
    expect(await instance.refusal("remove security-group secg0")).toMatch(
      /^ERR_IN_USE .*tcp-lb lb0/,
    );
    expect(await instance.refusal("remove cert-key c0")).toMatch(/^ERR_IN_USE .*by tcp-lb lb0/);
  });

  test("force-remove takes it away, and leaves who named it as it is", async () => {
    const instance = await balancer();
    await instance.type("force-remove upstream u0");
    expect(await instance.records("list-detail tcp-lb")).toMatchObject([{ upstream: "u0" }]);
    // A reference that leads nowhere does not stand in the way of other changes.
    await instance.type("update tcp-lb lb0 timeout 1000");
    await instance.type("add upstream u0");
    expect(await instance.refusal("remove upstream u0")).toMatch(/^ERR_IN_USE/);
  });

  test("force-remove of a server group takes it out of the upstreams of commands", async () => {
    const instance = await balancer();
    await instance.typeAll(
      "add server-group g1",
      "add server-group g1 to upstream u0 weight 3",
      "add service web ports 80",
      "add server-group g0 to service web",
    );
    const theirs = parseObject({
      kind: "Service",
      name: "theirs",
      type: "Plain",
      ports: [{ port: 1 }],
      groups: [{ group: "default/g0", weight: 7 }],
    });
    instance.world.store.transact("file", (transaction) => transaction.set(theirs));
    await instance.typeAll("force-remove server-group g0", "add server-group g0");
    expect(await instance.names("list server-group in upstream u0")).toEqual(["g1"]);
    expect(await instance.names("list server-group in service web")).toEqual([]);
    expect(await instance.names("list server-group in upstream theirs")).toEqual(["g0"]);
    await instance.type("force-remove server-group g1");
    expect(await instance.names("list server-group in upstream u0")).toEqual([]);
  });

  test("only force-remove goes on where a data plane can not do without what goes", async () => {
    const instance = await balancer();
    await instance.typeAll(
      "add cert-key c0 cert /pem/site.pem key /pem/site.key",
      "add cert-key c1 cert /pem/site.pem key /pem/site.key",
      "update tcp-lb lb0 cert-key c0",
      "remove cert-key c1",
    );
    expect(instance.world.commits.at(-1)?.tolerates).toBeUndefined();
    await instance.type("force-remove cert-key c0");
    expect(instance.world.commits.at(-1)).toEqual({
      set: [],
      delete: [{ kind: "Certificate", key: "default/c0" }],
      tolerates: true,
    });
    expect(await instance.records("list-detail tcp-lb")).toMatchObject([{ "cert-key": ["c0"] }]);
  });

  test("what is removed takes along what is in it", async () => {
    const instance = await balancer();
    await instance.typeAll(
      "add service web cluster-ips 10.96.0.1 ports 80",
      "add endpoint e1 to service web address 10.1.0.1",
      "remove service web",
      "remove server-group g0 from upstream u0",
      "remove server-group g0",
    );
    expect([...instance.world.store.objects("Endpoint")]).toEqual([]);
  });

  test("a group that a service has by its own name is used by it", async () => {
    const instance = new TypedControl();
    await instance.typeAll("add service web ports 80", "add server-group web");
    expect(await instance.refusal("remove server-group web")).toMatch(/^ERR_IN_USE .*service web/);
  });
});

describe("update", () => {
  test("changes what is said, and leaves everything else, also what no command can say", async () => {
    const instance = new TypedControl();
    const listener = parseObject({
      kind: "Listener",
      name: "lb0",
      labels: { team: "shop" },
      address: "127.0.0.1",
      port: 80,
      service: "default/u0",
      idleTimeoutMs: 1234,
    });
    await instance.world.commit({ set: [listener], delete: [] });
    await instance.typeAll("add upstream u1", "update tcp-lb lb0 upstream u1 connect-timeout 77");
    expect(instance.world.store.get("Listener", "default/lb0")).toEqual({
      ...listener,
      service: "default/u1",
      connectTimeoutMs: 77,
    });
  });

  test("an empty value takes away what was there", async () => {
    const instance = await balancer();
    await instance.typeAll(
      "add security-group secg0 default deny",
      "add cert-key c0 cert /pem/site.pem key /pem/site.key",
      "update tcp-lb lb0 security-group secg0 cert-key c0 client-ca /pem/ca.pem node n1",
    );
    expect(instance.world.store.get("Listener", "default/lb0")).toMatchObject({
      securityGroup: "default/secg0",
      tls: { certificates: ["default/c0"], clientCaFile: "/pem/ca.pem" },
    });
    await instance.type('update tcp-lb lb0 security-group "" cert-key "" node ""');
    expect(instance.world.store.get("Listener", "default/lb0")).toMatchObject({
      securityGroup: "",
      tls: undefined,
      node: "",
    });
  });

  test("says something, and does not move a listener", async () => {
    const instance = await balancer();
    expect(await instance.refusal("update tcp-lb lb0")).toMatch(/^ERR_USAGE .*one or more of/);
    expect(await instance.refusal("update tcp-lb lb0 address 0.0.0.0:81")).toMatch(/^ERR_USAGE/);
  });

  test("what is so already is no change", async () => {
    const instance = await balancer();
    const { revision } = instance.control;
    await instance.type("update tcp-lb lb0 upstream u0");
    expect(instance.control.revision).toBe(revision);
  });

  test("client-ca needs a certificate", async () => {
    const instance = await balancer();
    expect(await instance.refusal("update tcp-lb lb0 client-ca /pem/ca.pem")).toMatch(
      /^ERR_USAGE client-ca: .*cert-key/,
    );
  });
});
