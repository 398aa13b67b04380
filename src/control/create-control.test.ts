import { describe, expect, test } from "vitest";
import { CoreError } from "../core/errors.ts";
import { Turns } from "../core/turns.ts";
import { MemoryWorld } from "./control-world.fixture.ts";
import { createControl } from "./create-control.ts";
import { MemoryEngine } from "./memory-engine.fixture.ts";
import { CONSOLE, REMOTE, TypedControl } from "./typed.fixture.ts";

/** A promise that is settled from outside. */
function gate(): { readonly opened: Promise<void>; open(): void } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

describe("turns", () => {
  test("commands are carried out one after the other, in the order in which they came", async () => {
    const instance = new TypedControl();
    const first = gate();
    instance.world.beforeCommit = () => first.opened;
    const order: string[] = [];
    const typed = [
      instance.type("add upstream u0").then(() => order.push("add")),
      instance
        .type("add tcp-lb lb0 address 127.0.0.1:80 upstream u0")
        .then(() => order.push("use")),
      instance.names("list tcp-lb").then((names) => order.push(`list ${names.join()}`)),
    ];
    first.open();
    await Promise.all(typed);
    expect(order).toEqual(["add", "use", "list lb0"]);
  });

  test("one that fails changes nothing, and holds nobody up", async () => {
    const instance = new TypedControl();
    instance.world.failNext = new CoreError("ERR_JOURNAL", "no space left");
    const [failed, next] = await Promise.allSettled([
      instance.type("add upstream u0"),
      instance.type("add upstream u1"),
    ]);
    expect(failed).toMatchObject({ status: "rejected", reason: { code: "ERR_JOURNAL" } });
    expect(next.status).toBe("fulfilled");
    expect(await instance.names("list upstream")).toEqual(["u1"]);
  });

  test("what takes long does not hold up others", async () => {
    const instance = new TypedControl();
    const slow = gate();
    const { world } = instance;
    world.lookup = async () => {
      await slow.opened;
      return ["192.0.2.1"];
    };
    const read = world.readFile.bind(world);
    world.readFile = async (path) => {
      await slow.opened;
      return read(path);
    };
    world.files.set("/a.conf", "add upstream u9\n");
    const waiting = Promise.all([
      instance.names("lookup a.example"),
      instance.type("load /a.conf"),
      instance.type("add cert-key c0 cert /pem/site.pem key /pem/site.key"),
    ]);
    await instance.type("add upstream u0");
    expect(await instance.names("list upstream")).toEqual(["u0"]);
    slow.open();
    const [addresses] = await waiting;
    expect(addresses).toEqual(["192.0.2.1"]);
    expect(await instance.names("list upstream")).toEqual(["u0", "u9"]);
  });

  test("what is listed as a configuration is the state at its turn", async () => {
    const instance = new TypedControl();
    await instance.typeAll("add server-group g0", "add upstream u0");
    const text = instance.text("list config");
    const changed = instance.typeAll(
      "add server s0 to server-group g0 address 10.0.0.1:80",
      "remove upstream u0",
    );
    await changed;
    expect(await text).toMatch(/add upstream u0\n$/);
    expect(await text).not.toContain("add server s0");
  });

  test("others that change the same have turns among them", async () => {
    const world = new MemoryWorld();
    const turns = new Turns();
    const control = createControl(world, turns);
    const other = gate();
    const taken = turns.take(() => other.opened);
    let isDone = false;
    const added = control.run(control.parse("add upstream u0"), CONSOLE).then(() => {
      isDone = true;
    });
    await control.run(control.parse("version"), CONSOLE);
    expect(isDone).toBe(false);
    other.open();
    await Promise.all([taken, added]);
    expect(isDone).toBe(true);
  });

  test("of two that are saved into one file the later one stays", async () => {
    const instance = new TypedControl();
    const first = gate();
    const { world } = instance;
    const write = world.writeFile.bind(world);
    let writes = 0;
    world.writeFile = async (path, text) => {
      writes += 1;
      if (writes === 1) await first.opened;
      await write(path, text);
    };
    const saves = [instance.type("save /a.conf")];
    await instance.type("add upstream u0");
    saves.push(instance.type("save /a.conf"));
    first.open();
    await Promise.all(saves);
    expect(world.files.get("/a.conf")).toContain("add upstream u0");
    expect(world.files.get("/a.conf.bak")).not.toContain("add upstream u0");
  });
});

describe("who may", () => {
  test.each([
    "save /a.conf",
    "load /a.conf",
    "shutdown",
    "lookup a.example",
    "list resp-controller",
    "add resp-controller r0 address 127.0.0.1:1",
    "remove http-controller h0",
    "list-detail stdio-controller",
  ])("%s is refused outside the console unless it is allowed", async (line) => {
    const instance = new TypedControl();
    expect(await instance.refusal(line, REMOTE)).toMatch(/^ERR_REFUSED .*--allow-system-commands/);
    expect(instance.world.isShutDown).toBe(false);
    expect(instance.world.files.has("/a.conf")).toBe(false);
  });

  test.each(["version", "help", "list config", "man tcp-lb", "list tcp-lb", "add upstream u0"])(
    "%s is for all",
    async (line) => {
      const instance = new TypedControl();
      await expect(instance.type(line, REMOTE)).resolves.toBeDefined();
    },
  );
});

test("what is still under way is told to the one whose change it is", async () => {
  const typed = new TypedControl();
  const { world } = typed;
  world.note = "not applied yet";
  world.files.set("/config", "add upstream u1");
  expect(await typed.type("add upstream u0")).toEqual({ kind: "done", note: "not applied yet" });
  expect(await typed.type("System: load /config")).toEqual({
    kind: "done",
    note: "1 command, 1 object set; not applied yet",
  });
  world.note = "";
  expect(await typed.type("add upstream u2")).toEqual({ kind: "done", note: "" });
});

test("system commands do what they say", async () => {
  const instance = new TypedControl();
  expect(await instance.text("version")).toBe("0.0.0-test");
  expect(await instance.text("help")).toContain("tcp-lb");
  expect(await instance.text("man tcp-lb add")).toContain("in-buffer-size");
  expect(await instance.names("System: lookup a.example")).toEqual(["192.0.2.1", "2001:db8::1"]);
  expect(await instance.refusal("lookup b.example")).toMatch(/^ERR_NOT_FOUND/);
  expect(await instance.type("shutdown")).toMatchObject({ kind: "done" });
  expect(instance.world.isShutDown).toBe(true);
});

test("a command that no line can be is checked like one that was typed", async () => {
  const { control } = new TypedControl();
  const base = {
    kind: "resource",
    type: "server",
    name: "s1",
    within: [],
    params: new Map(),
  } as const;
  await expect(control.run({ ...base, action: "add" }, CONSOLE)).rejects.toMatchObject({
    code: "ERR_USAGE",
  });
  const within = [{ type: "server-group", name: "g0" }] as const;
  const params = new Map([["wieght", 1]]);
  await expect(
    control.run({ ...base, action: "add", within, params }, CONSOLE),
  ).rejects.toMatchObject({
    code: "ERR_USAGE",
    problems: [{ path: ["wieght"] }, { path: ["address"] }],
  });
});

test("the revision follows objects, and what is kept beside them", async () => {
  const instance = new TypedControl();
  const seen = [instance.control.revision];
  for (const line of [
    "add upstream u0",
    "add event-loop-group elg0",
    "remove event-loop-group elg0",
  ]) {
    await instance.type(line);
    seen.push(instance.control.revision);
  }
  await instance.type("list upstream");
  expect(new Set(seen).size).toBe(seen.length);
  expect(instance.control.revision).toBe(seen.at(-1));
});

test("health is told by the names that commands know", async () => {
  const engine = new MemoryEngine();
  const instance = new TypedControl({ engine });
  await instance.typeAll(
    "add server-group shop/g0",
    "add server s1 to server-group shop/g0 address 10.0.0.1:80",
  );
  engine.states = new Map([
    [
      "shop/g0/s1",
      {
        server: "shop/g0/s1",
        address: "10.0.0.1:80",
        health: "down",
        reason: "refused",
        meanLatencyMs: 3,
        connections: 1,
        totalConnections: 7,
        bytesIn: 10,
        bytesOut: 20,
        failures: 2,
      },
    ],
  ]);
  const events: unknown[] = [];
  const stop = instance.control.onHealth((event) => events.push(event));
  engine.tellHealth("shop/g0/s1", "down", "refused");
  stop();
  engine.tellHealth("shop/g0/s1", "up");
  expect(events).toEqual([
    {
      serverGroup: "shop/g0",
      server: "s1",
      address: "10.0.0.1:80",
      health: "down",
      reason: "refused",
    },
  ]);
  expect(await instance.records("list-detail server in server-group shop/g0")).toEqual([
    {
      name: "s1",
      address: "10.0.0.1:80",
      "no-ipv4": false,
      "no-ipv6": false,
      weight: 10,
      health: "down",
      reason: "refused",
      latency: 3,
      connections: 1,
      "total-connections": 7,
      "bytes-in": 10,
      "bytes-out": 20,
      failures: 2,
      owner: "control",
    },
  ]);
});

test("without an engine nobody tells of health", () => {
  const { control } = new TypedControl({ engine: null });
  expect(() => control.onHealth(() => undefined)()).not.toThrow();
});

test("names that are there complete a line", async () => {
  const instance = new TypedControl();
  await instance.typeAll(
    "add upstream u0",
    "add server-group g0",
    "add server s1 to server-group g0 address 10.0.0.1:80",
    "add security-group secg0 default deny",
    "add security-group-rule r0 to security-group secg0 network 10.0.0.0/8 default allow",
    "add service web ports 80",
    "add endpoint e1 to service web address 10.0.0.2",
    "add resp-controller resp0 address 127.0.0.1:1",
  );
  const { control } = instance;
  expect(control.complete("add tcp-lb lb0 address 127.0.0.1:80 upstream ")).toContain("u0");
  expect(control.complete("update server ")).toEqual(["s1"]);
  expect(control.complete("update server s1 in server-group ")).toEqual(["g0"]);
  expect(control.complete("remove endpoint ")).toEqual(["e1"]);
  expect(control.complete("remove security-group-rule ")).toEqual(["r0"]);
  expect(control.complete("remove resp-controller ")).toEqual(["resp0"]);
  expect(control.complete("list event-loop in event-loop-group ")).toEqual(["worker"]);
  expect(control.complete("list connection in event-loop ")).toContain("worker-1");
});
