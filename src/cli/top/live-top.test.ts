import { once } from "node:events";
import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { instanceStatus, listenerStatus } from "../status/status.fixture.ts";
import { NO_PAINT } from "../text/paint.ts";
import { runLiveTop } from "./live-top.ts";

const OPENED = "\u001b[?1049h\u001b[?25l";
const RESTORED = "\u001b[?25h\u001b[?1049l";

/** A terminal that remembers what was written to it. */
function terminal() {
  const modes: boolean[] = [];
  const stdin = Object.assign(new PassThrough(), {
    isTTY: true,
    setRawMode: (isRaw: boolean) => modes.push(isRaw),
  });
  const stdout = Object.assign(new PassThrough({ encoding: "utf8" }), {
    isTTY: true,
    columns: 80,
    rows: 10,
  });
  let written = "";
  stdout.on("data", (text: string) => {
    written += text;
  });
  const waitFor = async (part: string): Promise<void> => {
    while (!written.includes(part)) await once(stdout, "data");
  };
  return { stdin, stdout, modes, waitFor, written: () => written };
}

function start(
  change: { readonly ask?: () => Promise<never>; readonly signal?: AbortSignal } = {},
) {
  const tty = terminal();
  let asked = 0;
  const ask = async () => {
    const listeners = [listenerStatus("web", { totalConnections: asked })];
    return { atMs: 1000 * asked++, status: instanceStatus({ listeners }) };
  };
  const restores: (() => void)[] = [];
  const running = runLiveTop({
    stdout: tty.stdout,
    stdin: tty.stdin,
    paint: NO_PAINT,
    sort: "connections",
    periodMs: 1,
    ask,
    signal: new AbortController().signal,
    onExit: (restore) => restores.push(restore),
    ...change,
  });
  return { ...tty, running, restores };
}

test.each(["q", "\u0003"])(
  "draws again and again, until %j; the terminal is as it was",
  async (key) => {
    const { stdin, running, waitFor, written, modes } = start();
    await waitFor("portolan 1.2.3");
    // Known from the second frame on.
    await waitFor("1.0");
    stdin.write(key);
    await running;
    await waitFor(RESTORED);
    expect(written().startsWith(OPENED)).toBe(true);
    expect(written().endsWith(RESTORED)).toBe(true);
    expect(modes).toEqual([true, false]);
    expect(stdin.listenerCount("data")).toBe(0);
  },
);

test("keys sort, and a resize draws anew", async () => {
  const { stdin, stdout, running, waitFor } = start();
  stdin.write("n");
  await waitFor("sorted by new");
  stdout.columns = 12;
  stdout.emit("resize");
  await waitFor("portolan 1.…");
  stdin.write("q");
  await running;
});

test("where asking fails, the terminal is restored and the error told", async () => {
  const failure = new Error("no instance");
  const { running, waitFor } = start({ ask: () => Promise.reject(failure) });
  await expect(running).rejects.toBe(failure);
  await waitFor(RESTORED);
});

test("a signal ends it, and what is restored twice is restored once", async () => {
  const end = new AbortController();
  const { running, waitFor, written, restores } = start({ signal: end.signal });
  await waitFor("portolan 1.2.3");
  end.abort();
  await running;
  for (const restore of restores) restore();
  await waitFor(RESTORED);
  expect(written().split(RESTORED)).toHaveLength(2);
});
