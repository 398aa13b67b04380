import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { buildProgram } from "../../src/net/threads/build-program.fixture.ts";
import { requires } from "../support/requires.ts";

const FIXTURE = fileURLToPath(new URL("./net-take-over.fixture.ts", import.meta.url));
const ECHO = fileURLToPath(
  new URL("../../src/net/threads/echo-program.fixture.ts", import.meta.url),
);
const CALLERS = 8;

async function offerPath(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "portolan-take-over-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  return join(folder, "instance.sock");
}

function start(path: string, mode: "first" | "next" | "dies"): ChildProcess {
  buildProgram(ECHO);
  const child = spawn(process.execPath, [buildProgram(FIXTURE), path, mode], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => {
    child.kill("SIGKILL");
  });
  return child;
}

async function portOf(child: ChildProcess): Promise<number> {
  let text = "";
  for await (const chunk of child.stdout ?? []) {
    text += String(chunk);
    const match = /serving 127\.0\.0\.1:(\d+)\n/.exec(text);
    if (match !== null) return Number(match[1]);
  }
  throw new Error(`the process ended without serving: ${text}`);
}

/** Connects, says something and hears it back. */
async function call(port: number): Promise<void> {
  const socket = connect({ port, host: "127.0.0.1" });
  try {
    socket.write("hello");
    const [bytes] = await once(socket, "data");
    if (String(bytes) !== "hello") throw new Error(`heard ${String(bytes)}`);
  } finally {
    socket.destroy();
  }
}

/** Calls again and again; `stop` gives the number of calls and what went wrong. */
function keepCalling(port: number): () => Promise<{ calls: number; errors: unknown[] }> {
  const errors: unknown[] = [];
  let calls = 0;
  let isStopped = false;
  const callers = Array.from({ length: CALLERS }, async () => {
    while (!isStopped) {
      calls += 1;
      await call(port).catch((error: unknown) => errors.push(error));
    }
  });
  return async () => {
    isStopped = true;
    await Promise.all(callers);
    return { calls, errors };
  };
}

describe("a process that is replaced", requires("linux"), () => {
  test("hands its listening sockets over, and no connection is refused", async () => {
    const path = await offerPath();
    const first = start(path, "first");
    const port = await portOf(first);
    const stop = keepCalling(port);
    const firstEnded = once(first, "exit");
    const second = start(path, "next");
    expect(await portOf(second)).toBe(port);
    expect(await firstEnded).toEqual([0, null]);
    await call(port);
    // And once more: the second one offers the sockets at the same place.
    const secondEnded = once(second, "exit");
    const third = start(path, "next");
    expect(await portOf(third)).toBe(port);
    expect(await secondEnded).toEqual([0, null]);
    await call(port);
    const { calls, errors } = await stop();
    expect(errors).toEqual([]);
    expect(calls).toBeGreaterThan(CALLERS);
  });

  test("goes on where its successor dies on the way", async () => {
    const path = await offerPath();
    const first = start(path, "first");
    const port = await portOf(first);
    const stop = keepCalling(port);
    const second = start(path, "dies");
    expect(await once(second, "exit")).toEqual([5, null]);
    await call(port);
    expect((await stop()).errors).toEqual([]);
    expect(first.exitCode).toBeNull();
  });
});
