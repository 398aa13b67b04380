import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { buildProgram } from "../../src/net/threads/build-program.fixture.ts";
import { requires } from "../support/requires.ts";

const FIXTURE = fileURLToPath(new URL("./net-exit.fixture.ts", import.meta.url));
const ECHO = fileURLToPath(
  new URL("../../src/net/threads/echo-program.fixture.ts", import.meta.url),
);

function start(how: string): ChildProcess {
  buildProgram(ECHO);
  const child = spawn(process.execPath, [buildProgram(FIXTURE), how], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  onTestFinished(() => {
    child.kill("SIGKILL");
  });
  return child;
}

async function heard(child: ChildProcess, word: string): Promise<void> {
  let text = "";
  for await (const chunk of child.stdout ?? []) {
    text += String(chunk);
    if (text.includes(word)) return;
  }
  throw new Error(`the process ended without "${word}": ${text}`);
}

describe("a process whose loops are blocked ends", requires("linux"), () => {
  test.each([
    { how: "throw", code: 1 },
    { how: "reject", code: 1 },
    { how: "exit", code: 7 },
    { how: "loop-dies", code: 8 },
    { how: "loop-out-of-memory", code: 9 },
    { how: "loop-hangs", code: 10 },
    { how: "stop-all", code: 0 },
  ])("by $how, with its exit code", async ({ how, code }) => {
    const child = start(how);
    expect(await once(child, "exit")).toEqual([code, null]);
  });

  test("by a second SIGTERM", async () => {
    const child = start("sigterm-twice");
    const ended = once(child, "exit");
    await heard(child, "ready");
    child.kill("SIGTERM");
    child.kill("SIGTERM");
    // Signals of one kind that come at once may be one: the second is sent until it is seen.
    const again = setInterval(() => child.kill("SIGTERM"), 50);
    onTestFinished(() => clearInterval(again));
    expect(await ended).toEqual([143, null]);
  });
});
