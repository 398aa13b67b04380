import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { expect, onTestFinished, test } from "vitest";
import { CoreError } from "../../core/errors.ts";
import type { Result } from "../result.ts";
import { TinyControl } from "../tiny-control.fixture.ts";
import type { ConsoleSession } from "./console-session.ts";
import { type ConsoleOptions, runConsole } from "./run-console.ts";
import { Screen } from "./screen.fixture.ts";

const CTRL_C = "\u0003";
const CTRL_D = "\u0004";
const UP = "\u001b[A";
const LEFT = "\u001b[D";

interface Typist {
  readonly screen: Screen;
  readonly control: TinyControl;
  readonly exitCode: Promise<number>;
  type(text: string): void;
  happens(text: string): void;
}

/** Events that the test makes happen. */
class Events implements AsyncIterable<string> {
  readonly #stream = new PassThrough({ objectMode: true });

  push(text: string): void {
    this.#stream.push(text);
  }

  [Symbol.asyncIterator](): AsyncIterator<string> {
    return this.#stream[Symbol.asyncIterator]();
  }
}

function open(columns = 60, options: Partial<ConsoleOptions> = {}): Typist {
  const control = new TinyControl();
  const caller = { via: "console", from: "pid 1", maySystem: true } as const;
  const events = new Events();
  const session: ConsoleSession = {
    run: async (line) => control.run(control.parse(line), caller),
    complete: async (line) => control.complete(line),
    events,
  };
  const input = new PassThrough();
  const screen = new Screen(columns);
  const exitCode = runConsole({
    input,
    output: screen,
    isTerminal: true,
    hasColours: false,
    session,
    json: false,
    ...options,
  });
  onTestFinished(() => void input.end());
  return {
    screen,
    control,
    exitCode,
    type: (text) => void input.write(text),
    happens: (text) => events.push(text),
  };
}

test("a prompt, answers, and the next prompt", async () => {
  const { screen, control, type, exitCode } = open();
  control.records = [
    { name: "s1", address: "10.0.2.1:80", weight: 10, reason: "" },
    { name: "server-2", address: "10.0.2.22:8080", weight: 5, reason: "no answer" },
  ];
  await screen.waitFor(">");
  type("add upstream u0\r");
  await screen.waitFor("> add upstream u0\n(done)\n>");
  type("update tcp-lb lb0 timeout 5\rlist-detail tcp-lb\rlist upstream\rlist server-group\r");
  await screen.waitFor(/\(none\)\n>$/);
  expect(screen.text).toContain(
    [
      "(done) it takes a moment",
      "name      address         weight  reason",
      "s1        10.0.2.1:80         10  -",
      "server-2  10.0.2.22:8080       5  no answer",
      "u0",
      "(none)",
      ">",
    ].join("\n"),
  );
  type("exit\r");
  expect(await exitCode).toBe(0);
});

test("errors are red where colours are wanted, and nothing else is", async () => {
  const { screen, type } = open(60, { hasColours: true });
  type("add upstream u0\rremove upstream u1\r");
  await screen.waitFor(/ERR_NOT_FOUND: upstream u1 is not there\nadd it first\n>$/);
  expect(screen.written).toContain(
    "\u001b[31mERR_NOT_FOUND: upstream u1 is not there\nadd it first\u001b[39m\n",
  );
  const plain = open();
  plain.type("remove upstream u1\r");
  await plain.screen.waitFor(/ERR_NOT_FOUND/);
  expect(plain.screen.written).not.toContain("\u001b[31m");
});

test("what happens is shown above the line being typed, which goes on as if nothing had been", async () => {
  const { screen, control, type, happens } = open(20);
  type("list ups");
  await screen.waitFor("> list ups");
  type(LEFT + LEFT);
  happens("server s1 is down");
  await screen.waitFor("server s1 is down\n> list ups");
  expect(screen.cursor).toEqual([1, 8]);
  type("X\u007f\u0005tream\r");
  await screen.waitFor("server s1 is down\n> list upstream\n(none)\n>");
  expect(control.given).toHaveLength(1);
});

test("the same with a line that is longer than the terminal is wide", async () => {
  const { screen, control, type, happens } = open(20);
  type("add upstream a-rather-long-name-of-one");
  await screen.waitFor("> add upstream a-rat\nher-long-name-of-one");
  happens("one");
  happens("two: \u001b[2Jlonger than a row\u0007");
  await screen.waitFor(
    "one\ntwo: \\x1b[2Jlonger t\nhan a row\\x07\n> add upstream a-rat\nher-long-name-of-one",
  );
  type("s\r");
  await screen.waitFor(/\(done\)\n>$/);
  expect(control.given[0]?.command).toMatchObject({ name: "a-rather-long-name-of-ones" });
});

test("what happens while a command is carried out is shown, and what is typed meanwhile is kept", async () => {
  const { screen, control, type, happens } = open();
  let release: () => void = () => undefined;
  const begun = new Promise<void>((resolve) => {
    control.before = () => {
      resolve();
      return new Promise((go) => {
        release = go;
      });
    };
  });
  type("add upstream u0\r");
  await begun;
  happens("server s1 is down");
  await screen.waitFor("> add upstream u0\nserver s1 is down");
  type("list ups");
  control.before = async () => undefined;
  release();
  await screen.waitFor("> add upstream u0\nserver s1 is down\n(done)\n> list ups");
  type("tream\r");
  await screen.waitFor(/> list upstream\nu0\n>$/);
});

test("Tab completes: one word with the space after it, several are shown", async () => {
  const { screen, type } = open();
  type("ad\t");
  await screen.waitFor("> add");
  expect(screen.cursor).toEqual([0, 6]);
  type("t\t");
  await screen.waitFor("> add tcp-lb");
  type("\u0015l\t");
  await screen.waitFor("> list");
  type("\t\t");
  await screen.waitFor(/list {2,}list-detail/);
});

test("what is pasted goes where the cursor is, also in pieces, and asks for no completion", async () => {
  const { screen, control, type } = open();
  type("add u0");
  await screen.waitFor("> add u0");
  type(LEFT + LEFT);
  type("upstream\t");
  type("\u007f");
  await screen.waitFor("> add upstreamu0");
  type("\t\u00e4\u007f\r");
  await screen.waitFor(/\(done\)\n>$/);
  expect(control.given[0]?.command).toMatchObject({ type: "upstream", name: "u0" });
});

test("Ctrl-C takes back what is typed, twice ends; Ctrl-D ends", async () => {
  const first = open();
  first.type("add upstream u0");
  await first.screen.waitFor("> add upstream u0");
  first.type(LEFT + CTRL_C);
  await first.screen.waitFor("(Ctrl-C again, Ctrl-D or exit ends the console)\n>");
  first.type("list upstream\r");
  await first.screen.waitFor(/\(none\)\n>$/);
  first.type(CTRL_C);
  await first.screen.waitFor(/\(none\)\n\(Ctrl-C again/);
  first.type(CTRL_C);
  expect(await first.exitCode).toBe(0);
  expect(first.control.given).toHaveLength(1);

  const second = open();
  await second.screen.waitFor(">");
  second.type(CTRL_D);
  expect(await second.exitCode).toBe(0);
  expect(second.screen.cursor).toEqual([1, 0]);
});

test("it ends also where another part of the program wants it to", async () => {
  const ending = new AbortController();
  const { screen, type, exitCode } = open(60, { signal: ending.signal });
  type("list ups");
  await screen.waitFor("> list ups");
  ending.abort();
  expect(await exitCode).toBe(0);
});

test("the last command is answered before the console ends", async () => {
  const { screen, control, type, exitCode } = open();
  control.before = () => new Promise((resolve) => setImmediate(resolve));
  type(`add upstream u0\rlist upstream\r${CTRL_D}`);
  expect(await exitCode).toBe(0);
  expect(screen.text).toMatch(/\(done\)\nu0$/);
});

test("what was typed is remembered, for its user alone, without secrets", async () => {
  const folder = await mkdtemp(join(tmpdir(), "portolan-console-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const historyFile = join(folder, "state", "console-history");
  const first = open(60, { historyFile });
  await first.screen.waitFor(">");
  first.type("add upstream u0\radd resp-controller r0 password hunter2\rlist upstream\rexit\r");
  expect(await first.exitCode).toBe(0);
  expect(await readFile(historyFile, "utf8")).toBe("add upstream u0\nlist upstream\nexit\n");
  expect((await stat(historyFile)).mode & 0o777).toBe(0o600);

  await writeFile(historyFile, Array.from({ length: 3000 }, (_, n) => `list u${n}\n`).join(""));
  const second = open(60, { historyFile });
  await second.screen.waitFor(">");
  second.type(UP);
  await second.screen.waitFor("> list u2999");
  second.type("\u0015exit\r");
  await second.exitCode;
  const kept = (await readFile(historyFile, "utf8")).trimEnd().split("\n");
  expect(kept).toHaveLength(1000);
  expect(kept.slice(-2)).toEqual(["list u2999", "exit"]);
});

test("--json: one value a line", async () => {
  const { screen, control, type } = open(200, { json: true });
  control.records = [{ name: "s1", weight: 1 }];
  type("add upstream u0\rlist upstream\rlist-detail tcp-lb\rman\rremove upstream x\r");
  await screen.waitFor(/ERR_NOT_FOUND.*\n>$/);
  const values = screen.text.split("\n").filter((line) => /^[[{"\d]/.test(line));
  expect(values.map((line) => JSON.parse(line))).toEqual([
    { kind: "done", note: "" },
    { kind: "names", names: ["u0"] },
    { kind: "records", records: [{ name: "s1", weight: 1 }] },
    { kind: "text", text: expect.stringMatching(/^the manual\n/) },
    { kind: "error", code: "ERR_NOT_FOUND", message: expect.any(String), problems: [] },
  ]);
});

test("where events can not be followed any more that is said, and commands go on", async () => {
  const run = async (): Promise<Result> => ({ kind: "number", value: 7 });
  const events: AsyncIterable<string> = {
    [Symbol.asyncIterator]: () => ({
      next: () => Promise.reject(new CoreError("ERR_INSTANCE", "it is gone")),
    }),
  };
  const complete = async (): Promise<readonly string[]> => [];
  const { screen, type } = open(60, { session: { run, complete, events } });
  await screen.waitFor("ERR_INSTANCE: it is gone\n>");
  type("anything\r");
  await screen.waitFor("ERR_INSTANCE: it is gone\n> anything\n7\n>");
});
