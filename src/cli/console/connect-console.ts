import { setTimeout as delay } from "node:timers/promises";
import type { ConsoleSession } from "../../control/console/console-session.ts";
import { CoreError } from "../../core/errors.ts";
import { callInstance, followInstance } from "../../daemon/instance-socket/client.ts";
import type { EventItem } from "../../daemon/instance-socket/command-protocol.ts";

export interface ConnectOptions {
  /** Of this process, for the audit. */
  readonly pid: number;
  /** Ends what is followed. */
  readonly signal: AbortSignal;
  /** How long to wait before a look whether another instance is there. */
  readonly lookAgainMs?: number;
}

const LOOK_AGAIN_MS = 1000;

/** A console's way to the instance that listens there, also to the one that takes its place. */
export function connectConsole(path: string, options: ConnectOptions): Required<ConsoleSession> {
  const from = fromOf(options);
  return {
    run: async (line) => (await callInstance(path, "command", { line, from })).result,
    complete: async (line) => (await callInstance(path, "complete", { line })).words,
    events: events(path, options),
  };
}

function fromOf({ pid }: ConnectOptions): string {
  return `pid ${pid}`;
}

/** Lines for people; where the instance ends that is one of them, and so is that another is there. */
async function* events(path: string, options: ConnectOptions): AsyncGenerator<string> {
  const { signal, lookAgainMs = LOOK_AGAIN_MS } = options;
  for (let isFirst = true; !signal.aborted; isFirst = false) {
    const items = await follow(path, signal);
    if (items !== undefined) {
      if (!isFirst) yield "(an instance is there again)";
      yield* linesOf(items, fromOf(options));
      if (!signal.aborted) yield "(the instance has ended)";
    }
    await delay(lookAgainMs, undefined, { signal }).catch(() => undefined);
  }
}

/** Undefined where nobody is there. */
async function follow(
  path: string,
  signal: AbortSignal,
): Promise<AsyncIterable<EventItem> | undefined> {
  try {
    return await followInstance(path, "events", {}, signal);
  } catch (error) {
    if (signal.aborted || (error instanceof CoreError && error.code === "ERR_INSTANCE")) {
      return undefined;
    }
    throw error;
  }
}

async function* linesOf(items: AsyncIterable<EventItem>, own: string): AsyncGenerator<string> {
  try {
    for await (const { level, message, from } of items) {
      // What is typed here is seen already.
      if (level === "debug" || from === own) continue;
      const text = from === undefined ? message : `${message} (${from})`;
      yield level === "info" ? text : `${level}: ${text}`;
    }
  } catch {
    // It was cut off, which is an end as well.
  }
}
