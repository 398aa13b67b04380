import { setTimeout as delay } from "node:timers/promises";
import type { CliInput, CliOutput } from "../command-spec.ts";
import type { Sample } from "../status/sample.ts";
import type { Paint } from "../text/paint.ts";
import { renderFrame } from "./render-frame.ts";
import { Screen, sizeOf } from "./screen.ts";
import type { SortKey } from "./top-rows.ts";

export interface LiveTopOptions {
  readonly stdout: CliOutput;
  readonly stdin: CliInput | undefined;
  readonly paint: Paint;
  readonly sort: SortKey;
  readonly periodMs: number;
  readonly ask: () => Promise<Sample>;
  /** Ends it. */
  readonly signal: AbortSignal;
  /** Called where the process ends without `close`; for a terminal that nobody would repair. */
  readonly onExit: (restore: () => void) => void;
}

const SORT_BY_KEY: ReadonlyMap<string, SortKey> = new Map([
  ["c", "connections"],
  ["n", "new"],
  ["b", "bytes"],
  ["f", "failures"],
  ["a", "name"],
]);

/** A terminal in raw mode sends Ctrl-C and Ctrl-D as characters. */
const END_KEYS: readonly string[] = ["q", "Q", "\u0003", "\u0004"];

/** Shows frames until a key or the signal ends it; the terminal is then as it was. */
export async function runLiveTop(options: LiveTopOptions): Promise<void> {
  const { stdout, stdin, paint, ask } = options;
  const ended = new AbortController();
  const signal = AbortSignal.any([ended.signal, options.signal]);
  let { sort } = options;
  let before: Sample | undefined;
  let now: Sample | undefined;
  const draw = (): void => {
    if (now === undefined) return;
    screen.draw(renderFrame({ now, before, sort, paint, isLive: true, ...sizeOf(stdout) }));
  };
  const screen = new Screen(stdout, stdin, {
    onKey: (key) => {
      if (END_KEYS.includes(key)) ended.abort();
      sort = SORT_BY_KEY.get(key) ?? sort;
      draw();
    },
    onResize: draw,
  });
  options.onExit(() => screen.close());
  try {
    while (!signal.aborted) {
      const fresh = await ask();
      [before, now] = [now, fresh];
      draw();
      await delay(options.periodMs, undefined, { signal }).catch(() => undefined);
    }
  } finally {
    screen.close();
  }
}
