import { existsSync, readFileSync, statSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { CoreError } from "../../core/errors.ts";
import { invalid, problemsError } from "../../core/model/problems.ts";
import type { InstanceHandlers } from "./answer.ts";
import { callInstance, followInstance } from "./client.ts";
import { INSTANCE_REQUESTS, INSTANCE_STREAMS } from "./protocol.ts";
import { type InstanceServer, startInstanceServer } from "./server.ts";
import { defaultStateFolder } from "./state-folder.ts";
import type { InstanceStatus } from "./status-protocol.ts";

const STATUS: InstanceStatus = {
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
};

const notAsked = (): never => {
  throw new Error("nobody asks for this");
};

const HANDLERS: InstanceHandlers = {
  status: () => STATUS,
  profile: ({ loop, seconds }) => ({ profile: `${loop} for ${seconds}` }),
  "take-over": () => {
    throw new Error("not today");
  },
  command: ({ line }) => {
    throw problemsError("ERR_NOT_FOUND", [invalid(["name"], line, "a name that is there")]);
  },
  complete: ({ line }) => ({ words: [line] }),
  apply: notAsked,
  delete: notAsked,
  get: notAsked,
  support: notAsked,
  events: async function* (_, signal) {
    yield { level: "info", message: "one" };
    yield { level: "warn", message: "two" };
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
  },
  watch: () => {
    throw new CoreError("ERR_NOT_POSSIBLE_HERE", "nothing to watch");
  },
};

async function socketPath(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "portolan-instance-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  return join(folder, "state", "instance.sock");
}

async function start(
  path: string,
  more: {
    readonly pid?: number;
    readonly replaces?: boolean;
    readonly status?: InstanceStatus;
  } = {},
): Promise<InstanceServer> {
  const { pid = 1, replaces = false, status = STATUS } = more;
  const handlers = { ...HANDLERS, status: () => status };
  const server = await startInstanceServer({ path, pid, replaces, handlers });
  onTestFinished(() => server.close());
  return server;
}

test("requests are answered; the socket is the user's alone, and goes with the instance", async () => {
  const path = await socketPath();
  const server = await start(path);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(await callInstance(path, "status", {})).toEqual(STATUS);
  expect(await callInstance(path, "profile", { loop: "worker-1", seconds: 2 })).toEqual({
    profile: "worker-1 for 2",
  });
  await server.close();
  expect(existsSync(path)).toBe(false);
  await expect(callInstance(path, "status", {})).rejects.toMatchObject({
    code: "ERR_INSTANCE",
    message: expect.stringMatching(/no instance answers at .* \(ENOENT\); .*--state/),
  });
});

test("what is refused says why, with the field", async () => {
  const path = await socketPath();
  await start(path);
  await expect(callInstance(path, "take-over", {})).rejects.toThrow("not today");
  await expect(callInstance(path, "profile", { loop: "", seconds: 0 })).rejects.toThrow(
    /^loop: .*\nseconds: /,
  );
  await expect(callInstance(path, "command", { line: "x" })).rejects.toMatchObject({
    code: "ERR_NOT_FOUND",
    problems: [{ path: ["name"], value: '"x"', expected: "a name that is there" }],
  });
});

test("a stream comes item by item until one end leaves it", async () => {
  const path = await socketPath();
  const server = await start(path);
  const ended = new AbortController();
  const messages: string[] = [];
  for await (const { message } of await followInstance(path, "events", {}, ended.signal)) {
    messages.push(message);
    if (messages.length === 2) ended.abort();
  }
  expect(messages).toEqual(["one", "two"]);
  await expect(followInstance(path, "watch", {}, ended.signal)).rejects.toThrow();
  await expect(
    followInstance(path, "watch", {}, new AbortController().signal),
  ).rejects.toMatchObject({ code: "ERR_NOT_POSSIBLE_HERE", message: "nothing to watch" });
  const left = await followInstance(path, "events", {}, new AbortController().signal);
  const read = (async () => {
    for await (const _ of left);
  })();
  await server.close();
  await expect(read).rejects.toThrow();
});

test("one that runs keeps its folder; its pid is told", async () => {
  const path = await socketPath();
  await start(path);
  await expect(start(path, { pid: 2 })).rejects.toMatchObject({
    code: "ERR_INSTANCE",
    message: expect.stringMatching(/--state: .*state is that of the instance with pid 4711; give/),
  });
  expect(await callInstance(path, "status", {})).toEqual(STATUS);
});

test("what a dead process left is replaced", async () => {
  const path = await socketPath();
  await (await start(path)).close();
  // Node removes the file of a server that it closes; a process that is killed does not.
  const dead = createServer().listen(`${path}.bound`);
  await new Promise((resolve) => dead.once("listening", resolve));
  const { linkSync } = await import("node:fs");
  linkSync(`${path}.bound`, path);
  await new Promise((resolve) => dead.close(resolve));
  await start(path);
  expect(await callInstance(path, "status", {})).toEqual(STATUS);
});

test("a successor takes the name over; the one before does not take it away", async () => {
  const path = await socketPath();
  const before = await start(path);
  await start(path, { pid: 2, replaces: true, status: { ...STATUS, pid: 2 } });
  await before.close();
  expect((await callInstance(path, "status", {})).pid).toBe(2);
});

test("every request is documented", () => {
  const page = readFileSync(new URL("../../../docs/instance-socket.md", import.meta.url), "utf8");
  for (const [name, { help }] of Object.entries({ ...INSTANCE_REQUESTS, ...INSTANCE_STREAMS })) {
    expect(page).toMatch(new RegExp(`^\\| \`${name}\` \\| ${help} \\|`, "m"));
  }
});

test.each([
  [{ XDG_STATE_HOME: "/x" }, "linux", "/x/portolan"],
  [{}, "linux", "/home/me/.local/state/portolan"],
] as const)("with %j on %s the state folder is %s", (environment, os, folder) => {
  expect(defaultStateFolder({ environment, os, home: "/home/me" })).toBe(folder);
});
