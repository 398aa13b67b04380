import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startTestController } from "./controller.fixture.ts";
import { arrayOf, RawClient } from "./raw-client.fixture.ts";

test("results are told by the types of RESP2", async () => {
  const { control, open } = await startTestController();
  control.records = [
    { name: "s1", address: "10.0.2.1:80", weight: 10, reason: "", tags: ["a", "b"], up: true },
    { name: "s2", address: "x", weight: 1.5, reason: "not there", hints: { a: "b c" } },
  ];
  const client = await open();
  client.send(arrayOf("add", "upstream", "u0"));
  expect(await client.line()).toBe("+OK");
  client.send(arrayOf("list", "upstream"));
  expect(await client.take(12)).toBe("*1\r\n$2\r\nu0\r\n");
  client.send(arrayOf("update", "tcp-lb", "lb0", "timeout", "5"));
  expect(await client.line()).toBe("+OK it takes a moment");
  client.send(arrayOf("man"));
  expect(await client.take(47)).toBe(
    "$40\r\nthe manual\nof two lines with \u00e4 and \u{1f30d}\r\n",
  );
  client.send(arrayOf("list-detail", "tcp-lb"));
  const lines = [
    's1 -> address 10.0.2.1:80 weight 10 reason "" tags a,b up true',
    's2 -> address x weight 1.5 reason "not there" hints {"a":"b c"}',
  ];
  const expected = `*2\r\n${lines.map((line) => `$${line.length}\r\n${line}\r\n`).join("")}`;
  expect(await client.take(expected.length)).toBe(expected);
  control.result = { kind: "number", value: 1234 };
  expect(await client.ask("list upstream")).toBe(":1234");
});

test("HELLO 3: records are maps, with numbers, lists and truths", async () => {
  const { control, open } = await startTestController();
  control.records = [
    { name: "s1", weight: 10, share: 0.5, tags: ["a"], up: true, hints: { k: "v" } },
  ];
  const client = await open();
  const hello =
    "%7\r\n$6\r\nserver\r\n$8\r\nportolan\r\n$7\r\nversion\r\n$5\r\n1.2.3\r\n$5\r\nproto\r\n:3\r\n";
  client.send(arrayOf("HELLO", "3"));
  expect(await client.take(hello.length)).toBe(hello);
  for (const rest of ["$2", "id", ":1", "$4", "mode", "$10", "standalone"]) {
    expect(await client.line()).toBe(rest);
  }
  for (const rest of ["$4", "role", "$6", "master", "$7", "modules", "*0"]) {
    expect(await client.line()).toBe(rest);
  }
  const records =
    "*1\r\n%6\r\n$4\r\nname\r\n$2\r\ns1\r\n$6\r\nweight\r\n:10\r\n$5\r\nshare\r\n,0.5\r\n$4\r\ntags\r\n*1\r\n$1\r\na\r\n$2\r\nup\r\n#t\r\n$5\r\nhints\r\n%1\r\n$1\r\nk\r\n$1\r\nv\r\n";
  client.send(arrayOf("list-detail", "tcp-lb"));
  expect(await client.take(records.length)).toBe(records);
  expect(await client.ask("HELLO 4")).toMatch(/^-NOPROTO /);
});

test("words with spaces, quotes and JSON arrive as they were sent, and who sent them", async () => {
  const { control, open } = await startTestController({ maySystem: true });
  const client = await open();
  const json = '{"vproxy/hint-host": "a b.example", "x": "\\"{"}';
  client.send(arrayOf("add", "server-group", "g0", "to", "upstream", "u0", "annotations", json));
  expect(await client.line()).toBe("+OK");
  client.send(`add server-group g0 to upstream u0 annotations ${json}\r\n`);
  expect(await client.line()).toBe("+OK");
  const given = control.given.map(({ command }) =>
    command.kind === "resource" ? command.params.get("annotations") : undefined,
  );
  const values = given.map((value) => (typeof value === "string" ? JSON.parse(value) : value));
  expect(values).toEqual([JSON.parse(json), JSON.parse(json)]);
  expect(control.given[0]?.caller).toEqual({
    via: "resp",
    from: expect.stringMatching(/^127\.0\.0\.1:\d+$/),
    maySystem: true,
  });
});

test("one word that is a whole line is read as one", async () => {
  const { control, open } = await startTestController();
  const client = await open();
  client.send(arrayOf("add upstream u7"));
  expect(await client.line()).toBe("+OK");
  expect(control.given[0]?.command).toMatchObject({ action: "add", name: "u7" });
});

test("errors are one line with their code; a defect tells nothing of itself", async () => {
  const { open, logged } = await startTestController();
  const client = await open();
  expect(await client.ask("remove upstream nobody")).toBe(
    "-ERR ERR_NOT_FOUND upstream nobody is not there; add it first",
  );
  expect(await client.ask("remvoe upstream u0")).toMatch(/^-ERR ERR_USAGE .*remove/);
  expect(await client.ask('add upstream "u0')).toMatch(/^-ERR ERR_USAGE column 14: /);
  expect(await client.ask("shutdown")).toMatch(/^-ERR ERR_REFUSED /);
  expect(await client.ask("lookup a.example")).toBe(
    "-ERR ERR_INSTANCE the command failed by a defect; the log says where",
  );
  expect(logged).toContain("error: a command failed by a defect");
  client.send("*0\r\n");
  expect(await client.line()).toMatch(/^-ERR ERR_USAGE the command is empty/);
  client.send(arrayOf(""));
  expect(await client.line()).toMatch(/^-ERR ERR_USAGE the command is empty/);
  client.send(Buffer.from("*1\r\n$1\r\n\xff\r\n", "latin1"));
  expect(await client.line()).toMatch(/^-ERR ERR_USAGE a word is not UTF-8/);
  expect(await client.ask("PING")).toBe("+PONG");
});

test("what clients of Redis ask by themselves is answered", async () => {
  const { open } = await startTestController();
  const client = await open();
  const answers = [
    ["PING", "+PONG"],
    ["ping 'a b'", "$3"],
    ["COMMAND", "*0"],
    ["COMMAND COUNT", ":0"],
    ["command docs", "*0"],
    ["SELECT 0", "+OK"],
    ["SELECT 1", '-ERR ERR_USAGE SELECT: "1" is not valid; expected 0, the only one'],
    ["CLIENT SETNAME me", "+OK"],
    ["CLIENT SETINFO LIB-NAME x", "+OK"],
    ["CLIENT ID", ":1"],
    ["CLIENT KILL", "-ERR ERR_USAGE CLIENT: expected one of SETNAME, GETNAME, SETINFO, ID"],
    ["AUTH x", "-ERR ERR_USAGE AUTH: no password is set here; give commands without it"],
  ] as const;
  for (const [command, answer] of answers) {
    expect(await client.ask(command)).toBe(answer);
    if (answer === "$3") expect(await client.line()).toBe("a b");
  }
  expect(await client.ask("CLIENT GETNAME")).toBe("$2");
  expect(await client.line()).toBe("me");
  expect(await client.ask("QUIT")).toBe("+OK");
  expect(await client.rest()).toBe("");
});

test("commands that come at once are answered in order, and comments not at all", async () => {
  const { control, open } = await startTestController();
  const client = await open();
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  control.before = async (command) => {
    if (command.kind === "resource" && command.name === "slow") await held;
  };
  client.send(
    `add upstream slow\r\n# nothing\r\n\r\n${arrayOf("ECHO", "x")}list upstream\r\nPING\r\n`,
  );
  const other = await open();
  expect(await other.ask("PING")).toBe("+PONG");
  expect(control.given).toHaveLength(1);
  release();
  const expected = "+OK\r\n$1\r\nx\r\n*1\r\n$4\r\nslow\r\n+PONG\r\n";
  expect(await client.take(expected.length)).toBe(expected);
});

test("a client that has no more to say is still answered", async () => {
  const { control, open } = await startTestController();
  control.before = () => new Promise((resolve) => setImmediate(resolve));
  const client = await open();
  client.socket.end("add upstream u0\r\nlist upstream\r\n");
  expect(await client.rest()).toBe("+OK\r\n*1\r\n$2\r\nu0\r\n");
});

test("what speaks HTTP is dropped without an answer, and nothing of it is carried out", async () => {
  const { control, open, logged } = await startTestController();
  const client = await open();
  client.send("POST / HTTP/1.1\r\nHost: 127.0.0.1:16309\r\n\r\nadd upstream u0\r\n");
  expect(await client.rest()).toBe("");
  expect(control.given).toEqual([]);
  expect(logged).toContain("warn: a RESP connection spoke HTTP, and was dropped");
});

test("what is no RESP is told so and closed", async () => {
  const { open } = await startTestController();
  const client = await open();
  client.send("*1\r\n*1\r\n");
  expect(await client.rest()).toMatch(/^-ERR Protocol error: "\*" in an array/);
});

test("on a unix socket, which is its user's alone", async () => {
  const folder = await mkdtemp(join(tmpdir(), "portolan-resp-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const path = join(folder, "resp.sock");
  const { control, open } = await startTestController({ address: { kind: "unix", path } });
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect(await (await open()).ask("list upstream")).toBe("*0");
  expect(control.given[0]?.caller.from).toBe("unix");
});

test("without a password it is for this machine only, and says so", async () => {
  const { logged } = await startTestController();
  expect(logged).toEqual([expect.stringMatching(/^warn: .*no password.*PORTOLAN_RESP_PASSWORD/)]);
  for (const host of ["0.0.0.0", "::", "192.0.2.1", "a.example"]) {
    await expect(startTestController({ address: { kind: "tcp", host, port: 0 } })).rejects.toThrow(
      expect.objectContaining({
        code: "ERR_REFUSED",
        message: expect.stringMatching(/:0 has no password.*PORTOLAN_RESP_PASSWORD.*127\.0\.0\.1/),
      }),
    );
  }
  const address = { kind: "tcp", host: "0.0.0.0", port: 0 } as const;
  const open = await startTestController({ address, password: "pw" });
  expect(open.logged).toEqual([]);
});

test("an address that is taken is named", async () => {
  const { controller } = await startTestController();
  await expect(startTestController({ address: controller.address })).rejects.toThrow(
    expect.objectContaining({
      code: "ERR_LISTEN",
      message: expect.stringMatching(/127\.0\.0\.1:\d+ for RESP: .*EADDRINUSE.*--resp-listen/),
    }),
  );
});

test("close answers what was asked, and ends the rest", async () => {
  const { control, controller, open } = await startTestController();
  const idle = await open();
  const busy = await open();
  const begun = new Promise<void>((resolve) => {
    control.before = async () => {
      resolve();
      await controller.close();
    };
  });
  busy.send("add upstream u0\r\nlist upstream\r\n");
  await begun;
  expect(await idle.rest()).toBe("");
  expect(await busy.rest()).toBe("+OK\r\n");
  await expect(RawClient.open(controller.address)).rejects.toThrow(/ECONNREFUSED/);
  expect(controller.connections()).toBe(0);
});
