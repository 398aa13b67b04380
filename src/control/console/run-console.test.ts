import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { CoreError } from "../../core/errors.ts";
import { TinyControl } from "../tiny-control.fixture.ts";
import { runConsole } from "./run-console.ts";

interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** What comes of a file of commands in a pipe. */
async function pipe(text: string, json = false, control = new TinyControl()): Promise<Outcome> {
  const caller = { via: "console", from: "pid 1", maySystem: true } as const;
  const [output, errors] = [new PassThrough(), new PassThrough()];
  const input = new PassThrough();
  input.end(text);
  const code = await runConsole({
    input,
    output,
    errors,
    isTerminal: false,
    session: {
      run: async (line) => control.run(control.parse(line), caller),
      complete: async () => [],
    },
    json,
  });
  return { code, stdout: String(output.read() ?? ""), stderr: String(errors.read() ?? "") };
}

test("in a pipe there is no prompt and no colour; comments and blank lines are skipped", async () => {
  const script = "# a comment\n\n  add upstream u0\r\nadd upstream u1\nlist upstream\n";
  expect(await pipe(script)).toEqual({ code: 0, stdout: "(done)\n(done)\nu0\nu1\n", stderr: "" });
});

test("the last line needs no end; exit ends it before the rest", async () => {
  expect((await pipe("list upstream")).code).toBe(0);
  for (const word of ["exit", "quit"]) {
    const control = new TinyControl();
    await pipe(`add upstream u0\n${word}\nadd upstream u1\n`, false, control);
    expect(control.given).toHaveLength(1);
  }
});

test("a command that fails is told with its line; the others are given, and the end says so", async () => {
  const script = "add upstream u0\nremove upstream x\nremvoe upstream u0\nlist upstream\n";
  const { code, stdout, stderr } = await pipe(script);
  expect(code).toBe(1);
  expect(stdout).toBe("(done)\nu0\n");
  expect(stderr).toMatch(/^line 2: ERR_NOT_FOUND: .*\nadd it first\nline 3: ERR_USAGE: /);
});

test("where only the words were wrong the exit code is 2", async () => {
  expect((await pipe("remvoe upstream u0\nlist upstream\n")).code).toBe(2);
});

test("--json: every command gives one line, also one that fails", async () => {
  const control = new TinyControl();
  control.records = [{ name: "s1", tags: ["a", "b"], hints: { k: "v" }, weight: 1, up: true }];
  const script = "add upstream u0\nlist upstream\nlist-detail tcp-lb\nman\nbad\nversion\n";
  const { code, stdout, stderr } = await pipe(script, true, control);
  expect(code).toBe(2);
  expect(stderr).toBe("");
  const values = stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(values).toEqual([
    { kind: "done", note: "" },
    { kind: "names", names: ["u0"] },
    { kind: "records", records: control.records },
    { kind: "text", text: expect.stringMatching(/^the manual\n/) },
    {
      kind: "error",
      code: "ERR_USAGE",
      message: expect.any(String),
      problems: [expect.any(Object)],
    },
    { kind: "text", text: "portolan 1.2.3" },
  ]);
});

test("what is no CoreError is a failure as well", async () => {
  const control = new TinyControl();
  control.before = () => Promise.reject(new Error("broken"));
  expect(await pipe("list upstream\n", false, control)).toEqual({
    code: 1,
    stdout: "",
    stderr: "line 1: ERR_INSTANCE: broken\n",
  });
  control.before = () => Promise.reject(new CoreError("ERR_IN_USE", "used by \u001b[2J"));
  expect((await pipe("list upstream\n", false, control)).stderr).toBe(
    "line 1: ERR_IN_USE: used by \\x1b[2J\n",
  );
});
