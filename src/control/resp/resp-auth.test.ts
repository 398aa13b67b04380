import { expect, test } from "vitest";
import { Password } from "../password.ts";
import { AuthGate } from "./auth-gate.ts";
import { startTestController } from "./controller.fixture.ts";
import { arrayOf } from "./raw-client.fixture.ts";

const SECRET = "s3cr\u00e9t word";
const QUICK = { authDelayMs: 1, maxAuthDelayMs: 2 };

test("nothing is answered before the password, in whichever form it is asked", async () => {
  const { control, open } = await startTestController({ password: SECRET, limits: QUICK });
  const client = await open();
  const asked = [
    "PING",
    "add upstream u0",
    'add upstream "u0',
    "COMMAND",
    "CLIENT ID",
    "INFO",
    "ECHO x",
    "HELLO 3",
  ];
  for (const command of asked) expect(await client.ask(command)).toMatch(/^-NOAUTH /);
  for (const words of [["add", "upstream", "u0"], [""], [`AUTH ${SECRET}`], []]) {
    client.send(arrayOf(...words));
    expect(await client.line()).toMatch(/^-NOAUTH /);
  }
  client.send(Buffer.from("*2\r\n$4\r\nECHO\r\n$1\r\n\xff\r\n", "latin1"));
  expect(await client.line()).toMatch(/^-NOAUTH /);
  // Two words of which the second is the password are no AUTH.
  expect(await client.ask(`list "${SECRET}"`)).toMatch(/^-NOAUTH /);
  expect(control.given).toEqual([]);
  expect(await client.ask("QUIT")).toBe("+OK");
});

test.each([
  ["inline", `AUTH "${SECRET}"\r\n`],
  ["inline, small letters", `auth default '${SECRET}'\r\n`],
  ["one argument", arrayOf("AUTH", SECRET)],
  ["user and password", arrayOf("auth", "default", SECRET)],
])("the right password opens: %s", async (_name, bytes) => {
  const { open } = await startTestController({ password: SECRET, limits: QUICK });
  const client = await open();
  client.send(bytes);
  expect(await client.line()).toBe("+OK");
  expect(await client.ask("add upstream u0")).toBe("+OK");
});

test("HELLO may bring the password", async () => {
  const { open } = await startTestController({ password: SECRET, limits: QUICK });
  const client = await open();
  client.send(arrayOf("HELLO", "3", "AUTH", "default", "no"));
  expect(await client.line()).toMatch(/^-WRONGPASS /);
  client.send(arrayOf("HELLO", "3", "AUTH", "default", SECRET, "SETNAME", "me"));
  expect(await client.line()).toBe("%7");
  client.send("CLIENT GETNAME\r\nQUIT\r\n");
  expect(await client.rest()).toMatch(/\$2\r\nme\r\n\+OK\r\n$/);
});

test.each([
  ["another password", arrayOf("AUTH", "wrong"), "-WRONGPASS"],
  ["a beginning of it", arrayOf("AUTH", SECRET.slice(0, -1)), "-WRONGPASS"],
  ["another user", arrayOf("AUTH", "admin", SECRET), "-WRONGPASS"],
  ["an empty one", arrayOf("AUTH", ""), "-WRONGPASS"],
  ["none", arrayOf("AUTH"), "-ERR ERR_USAGE"],
  ["too many words", arrayOf("AUTH", "default", SECRET, "x"), "-ERR ERR_USAGE"],
])("%s does not open", async (_name, bytes, answer) => {
  const { open, logged } = await startTestController({ password: SECRET, limits: QUICK });
  const client = await open();
  client.send(bytes);
  expect(await client.line()).toMatch(new RegExp(`^${answer}`));
  expect(await client.ask("PING")).toMatch(/^-NOAUTH /);
  expect(logged.join()).not.toContain(SECRET);
});

test("a wrong password is told in the log, without what it was", async () => {
  const { open, logged } = await startTestController({ password: SECRET, limits: QUICK });
  expect(await (await open()).ask("AUTH guess")).toMatch(/^-WRONGPASS /);
  expect(logged).toEqual(["warn: RESP: a wrong password was given"]);
});

test("a stranger has a while for the password, however busy it is", async () => {
  const limits = { ...QUICK, loginTimeoutMs: 100 };
  const { open } = await startTestController({ password: SECRET, limits });
  const friend = await open();
  expect(await friend.ask(`AUTH "${SECRET}"`)).toBe("+OK");
  const stranger = await open();
  const busy = setInterval(() => stranger.send("PING\r\n"), 10);
  expect(await stranger.rest()).toMatch(/^(-NOAUTH .*\r\n)+$/);
  clearInterval(busy);
  expect(await friend.ask("PING")).toBe("+PONG");
});

test("strangers take no room from those who have the password", async () => {
  const limits = { ...QUICK, maxConnections: 2 };
  const { open, controller } = await startTestController({ password: SECRET, limits });
  const login = `AUTH "${SECRET}"`;
  const stranger = await open();
  const [first, second] = [await open(), await open()];
  expect(await stranger.rest()).toBe("");
  expect(await first.ask(login)).toBe("+OK");
  expect(await second.ask(login)).toBe("+OK");
  expect(await (await open()).rest()).toMatch(/^-ERR ERR_REFUSED there are 2 connections already/);
  expect(await first.ask("PING")).toBe("+PONG");
  expect(controller.connections()).toBe(2);
});

test("after a wrong password the next of that address waits, also a right one, also elsewhere not", async () => {
  const gate = new AuthGate(new Password("pw"), { authDelayMs: 40, maxAuthDelayMs: 40 });
  expect(await gate.try("a", "no")).toBe("wrong");
  const order: string[] = [];
  await Promise.all([
    gate.try("a", "pw").then(() => order.push("a")),
    gate.try("b", "pw").then(() => order.push("b")),
  ]);
  expect(order).toEqual(["b", "a"]);
});

test("only a few passwords of an address are looked at at a time", async () => {
  const gate = new AuthGate(new Password("pw"), { authDelayMs: 20, maxAuthDelayMs: 20 });
  await gate.try("a", "no");
  const outcomes = await Promise.all(Array.from({ length: 20 }, () => gate.try("a", "pw")));
  expect(outcomes.filter((outcome) => outcome === "right")).toHaveLength(8);
  expect(outcomes.filter((outcome) => outcome === "too-many")).toHaveLength(12);
  expect(await gate.try("a", "pw")).toBe("right");
});
