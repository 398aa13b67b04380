import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { startCli } from "../support/cli.ts";
import { LineClient } from "../support/line-client.ts";
import { freePort, startNamedServer } from "../support/named-server.ts";
import { makeStateFolder, NO_PORTS, startUp } from "./up-fixture.ts";

const SECRET = { PORTOLAN_KCPTUN_SECRET: "a secret for the tests" };
const LOOPS = ["--loops", "1", "--drain-timeout", "100ms"];
const BY_KCP = { "portolan/transport": "kcp" };

/** What somebody hears who calls; undefined where nobody answers. */
async function call(port: number): Promise<string | undefined> {
  return LineClient.open(port).then(
    (client) => client.line(),
    () => undefined,
  );
}

test("load balancers of a state file and of commands reach their servers over KCP", async () => {
  const server = await startNamedServer("far away");
  const [front, udp, byCommand, plain] = [
    await freePort(),
    await freePort(),
    await freePort(),
    await freePort(),
  ];
  const state = makeStateFolder();
  const file = join(dirname(state), "far.json");
  const address = "127.0.0.1";
  const objects = [
    { kind: "Service", name: "far", type: "Plain", ports: [{ port: 80 }] },
    { kind: "Group", name: "far", annotations: BY_KCP },
    { kind: "Endpoint", name: "a", group: "far", addresses: [address], ports: [{ port: udp }] },
    { kind: "Listener", name: "front", address, port: front, service: "default/far" },
    // The other end, here in the same process.
    { kind: "Service", name: "near", type: "Plain", ports: [{ port: 80 }] },
    {
      ...{ kind: "Endpoint", name: "b", group: "near", addresses: [address] },
      ports: [{ port: server.port }],
    },
    {
      ...{ kind: "Listener", name: "entry", address, port: udp, service: "default/near" },
      annotations: BY_KCP,
    },
  ];
  writeFileSync(file, JSON.stringify({ version: 1, objects }));
  startCli(["run", "--from", `file:${file}`, "--to", "userspace", "--state", state, ...LOOPS], {
    env: SECRET,
  });
  await expect.poll(() => call(front)).toBe("far away");

  const up = await startUp(makeStateFolder(), [...NO_PORTS, ...LOOPS], { env: SECRET });
  for (const line of [
    "add upstream u0",
    `add server-group g0 timeout 2000 period 500 up 1 down 2 annotations ${JSON.stringify(BY_KCP)}`,
    `add server s1 to server-group g0 address 127.0.0.1:${udp}`,
    "add server-group g0 to upstream u0",
    `add tcp-lb lb0 address 127.0.0.1:${byCommand} upstream u0`,
    // The same server by TCP: nobody listens there.
    "add upstream u1",
    "add server-group g1 timeout 2000 period 500 up 1 down 2",
    `add server s1 to server-group g1 address 127.0.0.1:${udp}`,
    "add server-group g1 to upstream u1",
    `add tcp-lb lb1 address 127.0.0.1:${plain} upstream u1`,
  ]) {
    await up.command(line);
  }
  await expect.poll(() => call(byCommand)).toBe("far away");
  expect(await call(plain)).toBeUndefined();
});
