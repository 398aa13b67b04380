import { expect, test } from "vitest";
import { CoreError } from "../../core/errors.ts";
import { REMOTE, TypedControl } from "../typed.fixture.ts";

test("controllers are added, listed and removed, and kept for the next start", async () => {
  const instance = new TypedControl();
  await instance.typeAll(
    "add resp-controller r0 address 127.0.0.1:16310",
    "System: add http-controller h0 address 0.0.0.0:0 token-file /etc/token",
  );
  expect(await instance.names("list resp-controller")).toEqual(["r0"]);
  expect(await instance.records("list-detail http-controller")).toEqual([
    { name: "h0", address: "0.0.0.0:0", secret: true, connections: 0 },
  ]);
  expect(instance.world.kept()).toEqual([
    {
      kind: "controller",
      type: "resp-controller",
      name: "r0",
      address: "127.0.0.1:16310",
      secretFile: "",
    },
    {
      kind: "controller",
      type: "http-controller",
      name: "h0",
      address: "0.0.0.0:0",
      secretFile: "/etc/token",
    },
  ]);
  await instance.type("remove resp-controller r0");
  expect(await instance.names("list resp-controller")).toEqual([]);
  expect(instance.world.kept()).toHaveLength(1);
});

test("a name is that of one controller, whatever it speaks", async () => {
  const instance = new TypedControl();
  await instance.type("add resp-controller c0 address 127.0.0.1:16310");
  expect(await instance.refusal("add http-controller c0 address 127.0.0.1:1")).toMatch(
    /^ERR_KEY_TAKEN .*resp-controller/,
  );
  expect(await instance.refusal("remove http-controller c0")).toMatch(/^ERR_NOT_FOUND/);
  expect(await instance.refusal("add http-controller a/b address 127.0.0.1:1")).toMatch(
    /^ERR_USAGE name/,
  );
});

test("one that can not be kept listens no more", async () => {
  const instance = new TypedControl();
  instance.world.failNext = new CoreError("ERR_JOURNAL", "no space left");
  expect(await instance.refusal("add resp-controller r0 address 127.0.0.1:16310")).toMatch(
    /^ERR_JOURNAL/,
  );
  expect(await instance.names("list resp-controller")).toEqual([]);
});

test("one whose end can not be kept listens again", async () => {
  const instance = new TypedControl();
  await instance.type("add resp-controller r0 address 127.0.0.1:16310");
  instance.world.failNext = new CoreError("ERR_JOURNAL", "no space left");
  expect(await instance.refusal("remove resp-controller r0")).toMatch(/^ERR_JOURNAL/);
  expect(await instance.names("list resp-controller")).toEqual(["r0"]);
});

test("one that is kept and could not be started again is listed with why, and can be removed", async () => {
  const instance = new TypedControl();
  const { world } = instance;
  const address = "127.0.0.1:16310";
  const type = "resp-controller";
  await world.keep({
    add: [{ kind: "controller", type, name: "r2", address, secretFile: "" }],
    remove: [],
  });
  const problem = `${address} is taken`;
  world.controllers.start({
    type,
    name: "r2",
    address,
    hasSecret: false,
    connections: 0,
    problem,
  });
  expect(await instance.names("list resp-controller")).toEqual(["r2"]);
  expect(await instance.records("list-detail resp-controller")).toMatchObject([{ problem }]);
  expect(await instance.refusal("add resp-controller r2 address 127.0.0.1:1")).toMatch(
    /^ERR_KEY_TAKEN .*could not listen at 127\.0\.0\.1:16310/,
  );
  world.failNext = new CoreError("ERR_JOURNAL", "no space left");
  expect(await instance.refusal("remove resp-controller r2")).toMatch(/^ERR_JOURNAL/);
  expect(await instance.names("list resp-controller")).toEqual(["r2"]);
  await instance.type("remove resp-controller r2");
  expect([await instance.names("list resp-controller"), world.kept()]).toEqual([[], []]);
});

test("a console is opened on the instance's terminal, where it has one", async () => {
  const instance = new TypedControl();
  expect(await instance.refusal("add stdio-controller stdio")).toMatch(
    /^ERR_NOT_POSSIBLE_HERE stdio-controller stdio: .*"portolan console"/,
  );
  expect(await instance.refusal("add stdio-controller stdio", REMOTE)).toMatch(/^ERR_REFUSED/);
  instance.world.controllers.hasTerminal = true;
  expect(await instance.refusal("add stdio-controller other")).toMatch(/^ERR_USAGE .*stdio/);
  await instance.type("add stdio-controller stdio");
  expect(await instance.names("list stdio-controller")).toEqual(["stdio"]);
  expect(await instance.refusal("add stdio-controller stdio")).toMatch(/^ERR_KEY_TAKEN/);
});

test("one that was told at the start comes back with the next one", async () => {
  const instance = new TypedControl();
  instance.world.controllers.start({
    type: "stdio-controller",
    name: "stdio",
    address: "",
    hasSecret: false,
    connections: 1,
  });
  expect(await instance.names("list stdio-controller")).toEqual(["stdio"]);
  expect(await instance.type("remove stdio-controller stdio")).toMatchObject({
    note: expect.stringContaining("at the start"),
  });
});
