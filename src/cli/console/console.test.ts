import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { expect, onTestFinished, test } from "vitest";
import { TinyControl } from "../../control/tiny-control.fixture.ts";
import type { InstanceHandlers } from "../../daemon/instance-socket/answer.ts";
import type { EventItem } from "../../daemon/instance-socket/command-protocol.ts";
import { type InstanceServer, startInstanceServer } from "../../daemon/instance-socket/server.ts";
import { runCli } from "../run-cli.ts";
import { connectConsole } from "./connect-console.ts";

const notAsked = (): never => {
  throw new Error("nobody asks for this");
};

interface Instance {
  readonly folder: string;
  readonly path: string;
  readonly control: TinyControl;
  readonly events: PassThrough;
  readonly server: InstanceServer;
}

/** An instance as far as a console sees it. */
async function startInstance(folder?: string): Promise<Instance> {
  const state = folder ?? (await newFolder());
  const path = join(state, "instance.sock");
  const control = new TinyControl();
  const events = new PassThrough({ objectMode: true });
  const caller = { via: "console", maySystem: true } as const;
  const handlers: InstanceHandlers = {
    status: () => ({
      version: "1.2.3",
      pid: 4711,
      node: "node-a",
      ready: true,
      reasons: [],
      components: [],
      loopGroups: [],
      uptimeSeconds: 7,
      revision: 3,
      process: { cpuSeconds: 1, memoryBytes: 2 },
      listeners: [],
      groups: [],
      groupsLeftOut: 0,
      controllers: [],
      journal: null,
    }),
    command: async ({ line, from = "" }) => ({
      result: await control.run(control.parse(line), { ...caller, from }),
    }),
    complete: ({ line }) => ({ words: control.complete(line) }),
    events: async function* () {
      for await (const item of events) yield item;
    },
    profile: notAsked,
    "take-over": notAsked,
    apply: notAsked,
    delete: notAsked,
    get: notAsked,
    support: notAsked,
    watch: notAsked,
  };
  const server = await startInstanceServer({ path, pid: 1, replaces: false, handlers });
  onTestFinished(() => server.close());
  return { folder: state, path, control, events, server };
}

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "portolan-console-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

async function cli(args: readonly string[], text?: string): Promise<Outcome> {
  const [stdout, stderr, stdin] = [new PassThrough(), new PassThrough(), new PassThrough()];
  stdin.end(text);
  const context = { stdout, stderr, stdin, environment: {}, hostName: "host" };
  const code = await runCli(args, context);
  return { code, stdout: String(stdout.read() ?? ""), stderr: String(stderr.read() ?? "") };
}

test("-e gives commands and ends", async () => {
  const { folder, control } = await startInstance();
  const console = ["console", "--state", folder];
  expect(await cli([...console, "-e", "add upstream u0", "-e", "list upstream"])).toEqual({
    code: 0,
    stdout: "(done)\nu0\n",
    stderr: "",
  });
  expect(control.given[0]?.caller).toEqual({
    via: "console",
    from: `pid ${process.pid}`,
    maySystem: true,
  });
  expect(await cli([...console, "--json", "--execute", "list upstream"])).toMatchObject({
    stdout: '{"kind":"names","names":["u0"]}\n',
  });
});

test("errors of the instance come with their code and decide the exit code", async () => {
  const { folder } = await startInstance();
  const console = ["console", "--state", folder];
  expect(await cli([...console, "-e", "remove upstream x"])).toEqual({
    code: 1,
    stdout: "",
    stderr: "ERR_NOT_FOUND: upstream x is not there\nadd it first\n",
  });
  expect((await cli([...console, "-e", "remvoe upstream x"])).code).toBe(2);
});

test("a file in a pipe", async () => {
  const { folder } = await startInstance();
  const script = "# two\nadd upstream u0\nadd upstream u1\n\nlist upstream\nremove upstream x\n";
  expect(await cli(["console", "--state", folder], script)).toEqual({
    code: 1,
    stdout: "(done)\n(done)\nu0\nu1\n",
    stderr: expect.stringMatching(/^line 6: ERR_NOT_FOUND: /),
  });
});

test("where no instance runs that is said once", async () => {
  const { code, stdout, stderr } = await cli(["console", "--state", "/nowhere"], "a\nb\nc\n");
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr).toMatch(/^portolan: no instance answers at \/nowhere.*--state\n$/);
});

test("events are for people; the end of the instance and the next one are told", async () => {
  const first = await startInstance();
  const ending = new AbortController();
  const { events, run } = connectConsole(first.path, {
    pid: 1,
    signal: ending.signal,
    lookAgainMs: 5,
  });
  const lines = events[Symbol.asyncIterator]();
  const next = async (): Promise<unknown> => (await lines.next()).value;
  const items: readonly EventItem[] = [
    { level: "debug", message: "detail" },
    { level: "info", message: "command of console: add upstream u0", from: "pid 1" },
    { level: "info", message: "command of console: add upstream u1", from: "pid 2" },
    { level: "info", message: "server s1 is up" },
    { level: "warn", message: "server s1 is down" },
  ];
  for (const item of items) first.events.write(item);
  expect(await next()).toBe("command of console: add upstream u1 (pid 2)");
  expect(await next()).toBe("server s1 is up");
  expect(await next()).toBe("warn: server s1 is down");
  await first.server.close();
  expect(await next()).toBe("(the instance has ended)");
  const second = await startInstance(first.folder);
  expect(await next()).toBe("(an instance is there again)");
  second.events.write({ level: "error", message: "x" });
  expect(await next()).toBe("error: x");
  expect(await run("list upstream")).toEqual({ kind: "names", names: [] });
  ending.abort();
  expect(await lines.next()).toEqual({ done: true, value: undefined });
});
