import { expect, test } from "vitest";
import { CoreError } from "../../core/errors.ts";
import { TypedControl } from "../typed.fixture.ts";

const GROUP = "add smart-group-delegate d0 service shop zone z0 server-group g0";
const NODE = "add smart-node-delegate n0 service prod/shop zone z0 nic eth0 port 8080 weight 3";

test("delegates are added, listed, saved and removed", async () => {
  const instance = new TypedControl();
  await instance.typeAll("add server-group g0", GROUP, NODE);
  expect(await instance.names("list smart-group-delegate")).toEqual(["d0"]);
  expect(await instance.records("list-detail sgd")).toEqual([
    {
      name: "d0",
      service: "shop",
      zone: "z0",
      "server-group": "g0",
      servers: [],
      status: "following",
    },
  ]);
  expect(await instance.records("list-detail snd")).toMatchObject([
    { name: "n0", service: "prod/shop", nic: "eth0", port: 8080, weight: 3, period: 10_000, up: 1 },
  ]);
  const config = await instance.text("list config");
  expect(config).toContain("add smart-group-delegate d0 service shop zone z0 server-group g0\n");
  const other = new TypedControl();
  other.world.files.set("/saved", config);
  await other.type("load /saved");
  expect(other.world.kept()).toEqual(instance.world.kept());
  expect(await other.text("list config")).toBe(config);
  await other.type("load /saved");
  await instance.typeAll("remove smart-group-delegate d0", "remove smart-node-delegate n0");
  expect(instance.world.kept()).toEqual([]);
  expect(await instance.names("list smart-node-delegate")).toEqual([]);
});

test.each([
  ["add smart-group-delegate d1 service shop server-group nope", "ERR_NOT_FOUND", "nope"],
  ["add smart-group-delegate d1 service shop server-group g0", "ERR_KEY_TAKEN", "d0"],
  [GROUP, "ERR_KEY_TAKEN", "d0"],
  ["add smart-group-delegate d1 service g1 server-group g1", "ERR_USAGE", "another group"],
  ["add smart-group-delegate d1 server-group g0", "ERR_USAGE", "service: missing"],
  ["add smart-node-delegate n1 service s port 80", "ERR_USAGE", "address"],
  ["add smart-node-delegate n1 service s port 80 nic a address 10.0.0.1", "ERR_USAGE", "nic"],
  [
    "add smart-node-delegate n1 service s port 80 address web.example",
    "ERR_USAGE",
    "an IP address",
  ],
  ["add smart-node-delegate n1 service s port 80 address 0.0.0.0", "ERR_USAGE", "others call"],
  ["add smart-node-delegate n1 service s port 80 address ::ffff:0:0", "ERR_USAGE", "others call"],
  ["add smart-node-delegate n1 service s port 0 address 10.0.0.1", "ERR_USAGE", "port"],
  ["add smart-node-delegate n1 service a/b/c port 80 address 10.0.0.1", "ERR_USAGE", "service"],
  ["add smart-node-delegate a/b service s port 80 address 10.0.0.1", "ERR_USAGE", "name"],
  ["remove smart-node-delegate nope", "ERR_NOT_FOUND", "nope"],
])("%s is refused", async (line, code, word) => {
  const instance = new TypedControl();
  await instance.typeAll("add server-group g0", GROUP);
  const refusal = await instance.refusal(line);
  expect(refusal).toMatch(new RegExp(`^${code} `));
  expect(refusal).toContain(word);
  expect(instance.world.kept()).toHaveLength(1);
});

test("one place of a service is announced once", async () => {
  const instance = new TypedControl();
  const place = "service shop port 80 address 10.0.0.1";
  await instance.type(`add smart-node-delegate n0 ${place}`);
  const refusal = await instance.refusal(`add smart-node-delegate n1 ${place} weight 3`);
  expect(refusal).toMatch(/^ERR_KEY_TAKEN .*10\.0\.0\.1:80 of service shop.*n0/);
  await instance.typeAll(
    "add smart-node-delegate n1 service shop port 81 address 10.0.0.1",
    "add smart-node-delegate n2 service other port 80 address 10.0.0.1",
    "add smart-node-delegate n3 service shop port 80 nic eth0",
    "add smart-node-delegate n4 service shop port 80 nic eth0 ip-type v6",
  );
  expect(await instance.names("list smart-node-delegate")).toHaveLength(5);
});

test("what can not be kept is not there", async () => {
  const instance = new TypedControl();
  await instance.type("add server-group g0");
  instance.world.failNext = new CoreError("ERR_JOURNAL", "the disk is full");
  expect(await instance.refusal(GROUP)).toContain("ERR_JOURNAL");
  expect(await instance.names("list smart-group-delegate")).toEqual([]);
});
