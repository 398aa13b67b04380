import { expect, test } from "vitest";
import { ANY_SERVER } from "./balancer.ts";
import { Server } from "./server.ts";
import { SourceHash } from "./source-hash.ts";

const CLIENTS = [
  ...Array.from({ length: 5000 }, (_, n) => `10.${n >> 8}.${n & 0xff}.7`),
  ...Array.from({ length: 5000 }, (_, n) => `fd00::${(n + 1).toString(16)}`),
];

function serverAt(address: string, weight = 1): Server {
  const server = new Server(address, address, 80, true);
  server.weight = weight;
  return server;
}

function balancerOf(servers: readonly Server[]): SourceHash {
  const balancer = new SourceHash();
  for (const server of servers) balancer.weightChanged(server);
  return balancer;
}

function assign(balancer: SourceHash): readonly (string | undefined)[] {
  return CLIENTS.map((client) => balancer.next(client, 0, ANY_SERVER)?.address);
}

function setWeight(balancer: SourceHash, server: Server, weight: number): void {
  server.weight = weight;
  balancer.weightChanged(server);
}

const five = () => [1, 2, 3, 4, 5].map((n) => serverAt(`10.9.0.${n}`));

test("it depends on the servers, not on the order in which they came", () => {
  expect(assign(balancerOf(five().reverse()))).toEqual(assign(balancerOf(five())));
});

test("when a server goes only its clients move, and they come back with it", () => {
  const servers = five();
  const balancer = balancerOf(servers);
  const before = assign(balancer);
  const gone = servers[2] ?? serverAt("none");
  setWeight(balancer, gone, 0);
  const without = assign(balancer);
  before.forEach((address, index) => {
    if (address === gone.address) expect(without[index]).not.toBe(address);
    else expect(without[index]).toBe(address);
  });
  setWeight(balancer, gone, 1);
  expect(assign(balancer)).toEqual(before);
});

test("more weight only draws clients to the server that has it", () => {
  const servers = five();
  const balancer = balancerOf(servers);
  const before = assign(balancer);
  const [heavier = serverAt("none")] = servers;
  setWeight(balancer, heavier, 3);
  const after = assign(balancer);
  const moved = after.filter((address, index) => address !== before[index]);
  expect(new Set(moved)).toEqual(new Set([heavier.address]));
  const share = after.filter((address) => address === heavier.address).length / CLIENTS.length;
  expect(share).toBeGreaterThan(3 / 7 - 0.02);
  expect(share).toBeLessThan(3 / 7 + 0.02);
});

test("an IPv4 client of a dual-stack socket is the same client", () => {
  const balancer = balancerOf(five());
  for (const client of CLIENTS.slice(0, 100)) {
    expect(balancer.next(`::ffff:${client}`, 0, ANY_SERVER)).toBe(
      balancer.next(client, 0, ANY_SERVER),
    );
  }
});

test("a client whose server can not be used goes to its second choice, as if that one were gone", () => {
  const servers = five();
  const balancer = balancerOf(servers);
  const [refused = serverAt("none")] = servers;
  const second = CLIENTS.map(
    (client) => balancer.next(client, 0, (one) => one !== refused)?.address,
  );
  setWeight(balancer, refused, 0);
  expect(second).toEqual(assign(balancer));
});
