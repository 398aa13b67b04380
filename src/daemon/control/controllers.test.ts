import { connect, createServer, type Server } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { TypedControl } from "../../control/typed.fixture.ts";
import type { RuntimeEntry } from "../../control/world.ts";
import { StatusBoard } from "../../core/status/status-board.ts";
import { createLog } from "../instance.fixture.ts";
import { Controllers } from "./controllers.ts";
import { reportControllers } from "./report-controllers.ts";

type ControllerType = "resp-controller" | "http-controller";

const ANY_PORT = "127.0.0.1:0";

function entry(
  type: ControllerType,
  name: string,
  address: string,
): Extract<RuntimeEntry, { kind: "controller" }> {
  return { kind: "controller", type, name, address, secretFile: "" };
}

function createControllers(secret?: string): Controllers {
  const { control } = new TypedControl();
  const controllers = new Controllers({
    control: () => control,
    log: createLog().log,
    maySystem: false,
    secretOf: () => secret,
    httpHosts: [],
    keepFile: () => Promise.reject(new Error("no files in this test")),
    status: async () => ({}),
  });
  onTestFinished(() => controllers.closeAll());
  return controllers;
}

function addressOf(controllers: Controllers, name: string): string {
  const state = controllers.list().find((one) => one.name === name);
  if (state === undefined) throw new Error(`${name} is not there`);
  return state.address;
}

/** Undefined where the connection is taken, else the error's code. */
function refusalOf(address: string): Promise<unknown> {
  const { hostname: host, port } = new URL(`tcp://${address}`);
  return new Promise((resolve) => {
    const socket = connect({ host, port: Number(port) }, () => {
      socket.destroy();
      resolve(undefined);
    });
    socket.on("error", (error) => resolve("code" in error ? error.code : error));
  });
}

async function occupy(): Promise<{ readonly server: Server; readonly address: string }> {
  const server = createServer();
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const at = server.address();
  if (at === null || typeof at === "string") throw new Error("no port");
  return { server, address: `127.0.0.1:${at.port}` };
}

test.each<ControllerType>(["resp-controller", "http-controller"])(
  "a %s that is removed listens no more",
  async (type) => {
    const controllers = createControllers();
    await controllers.add(entry(type, "c0", ANY_PORT));
    const address = addressOf(controllers, "c0");
    expect(await refusalOf(address)).toBeUndefined();
    await controllers.remove(type, "c0");
    expect(await refusalOf(address)).toBe("ECONNREFUSED");
    expect(controllers.list()).toEqual([]);
  },
);

test("one of another type is not removed by its name", async () => {
  const controllers = createControllers();
  await controllers.add(entry("resp-controller", "c0", ANY_PORT));
  await expect(controllers.remove("http-controller", "c0")).rejects.toMatchObject({
    code: "ERR_NOT_FOUND",
  });
  expect(await refusalOf(addressOf(controllers, "c0"))).toBeUndefined();
});

test("one that is kept and whose port is taken is told until it is removed", async () => {
  const controllers = createControllers();
  const board = new StatusBoard({ now: () => 0 });
  reportControllers(controllers, board.add("server", "controllers"));
  const { address } = await occupy();
  await controllers.restore(entry("resp-controller", "r2", address));
  expect(controllers.list()).toMatchObject([
    { name: "r2", address, problem: expect.stringContaining(address) },
  ]);
  const told = () => board.components().flatMap(({ notHonoured }) => notHonoured);
  expect(told()).toEqual([expect.stringMatching(/^resp-controller r2: .*127\.0\.0\.1/)]);
  await controllers.remove("resp-controller", "r2");
  expect([controllers.list(), told()]).toEqual([[], []]);
});

test("a second try of what is kept brings it back, and leaves what listens alone", async () => {
  const controllers = createControllers();
  const { server, address } = await occupy();
  const kept = entry("http-controller", "h2", address);
  await controllers.restore(kept);
  await new Promise((resolve) => server.close(resolve));
  await controllers.restore(kept);
  await controllers.restore(kept);
  expect(controllers.list()).toEqual([
    { type: "http-controller", name: "h2", address, hasSecret: false, connections: 0 },
  ]);
});

test.each([
  [undefined, false],
  ["word", true],
])("one that commands add takes the secret of the instance: %s", async (secret, hasSecret) => {
  const controllers = createControllers(secret);
  await controllers.add(entry("resp-controller", "r", ANY_PORT));
  await controllers.add(entry("http-controller", "h", ANY_PORT));
  expect(controllers.list()).toMatchObject([{ hasSecret }, { hasSecret }]);
});
