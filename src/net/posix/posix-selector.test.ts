import { describe, expect, test } from "vitest";
import { requires } from "../../../test/support/requires.ts";
import { PosixSelector } from "./posix-selector.ts";

/** Tells events as they are scripted, and notes how it was asked for them. */
class ScriptedEvents {
  readonly timeouts: number[] = [];
  /** The slots of each wait to come; where none is left, nothing happened. */
  script: (readonly number[])[] = [];
  #slots: readonly number[] = [];

  wait(timeoutMs: number): number {
    this.timeouts.push(timeoutMs);
    this.#slots = this.script.shift() ?? [];
    return this.#slots.length;
  }

  slotAt(index: number): number {
    return this.#slots[index] ?? 0;
  }

  generationAt(): number {
    return 0;
  }

  eventsAt(): number {
    return 0;
  }
}

const SLEEP = 1000;
const LOOK = 0;

/** Each look at the clock is a hundredth of a millisecond later than the last. */
function rig(alwaysSleeps = false) {
  const events = new ScriptedEvents();
  const clock = { ms: 0 };
  const nowMs = () => {
    clock.ms += 0.01;
    return clock.ms;
  };
  const selector = new PosixSelector(events, { alwaysSleeps, nowMs });
  return {
    clock,
    /** How it waited for these, one list of slots a wait. */
    waits: (...script: readonly (readonly number[])[]) => {
      events.script = [...script];
      events.timeouts.length = 0;
      while (events.script.length > 0) selector.wait(SLEEP);
      return [...events.timeouts];
    },
    waitOnce: (timeoutMs: number) => {
      events.timeouts.length = 0;
      selector.wait(timeoutMs);
      return [...events.timeouts];
    },
  };
}

/** Of a connection and its other side. */
const [CLIENT, SERVER] = [[4], [5]];
const NOTHING: readonly number[] = [];

describe("staying awake", requires("linux"), () => {
  test("between the two sides of one connection it looks before it sleeps", () => {
    const { waits } = rig();
    expect(waits(CLIENT, SERVER, CLIENT, NOTHING, NOTHING, SERVER, CLIENT)).toEqual([
      SLEEP,
      SLEEP,
      SLEEP,
      LOOK,
      LOOK,
      LOOK,
      LOOK,
    ]);
  });

  test("it sleeps where a look found nothing for some time, and looks less often after that", () => {
    const { waits, waitOnce } = rig();
    waits(CLIENT, SERVER, CLIENT);
    const looked = waitOnce(SLEEP);
    expect(looked.at(-1)).toBe(SLEEP);
    expect(looked.length).toBeGreaterThan(5);
    expect(looked.length).toBeLessThan(30);
    // The next time it goes to sleep at once, then it tries again.
    expect(waits(CLIENT, SERVER, CLIENT, SERVER)).toEqual([SLEEP, SLEEP, SLEEP, LOOK]);
  });

  test.each([
    ["several events at a time", [CLIENT, SERVER, [4, 5], CLIENT]],
    ["events of many connections", [CLIENT, SERVER, [6], [7], CLIENT, SERVER]],
  ])("it sleeps with %s", (_what, script) => {
    expect(rig().waits(...script)).toEqual(script.map(() => SLEEP));
  });

  test("it sleeps behind what took long, which is no short request", () => {
    const { waits, waitOnce, clock } = rig();
    waits(CLIENT, SERVER, CLIENT);
    clock.ms += 1;
    expect(waitOnce(SLEEP)).toEqual([SLEEP]);
  });

  test("it only looks once where it shall not wait", () => {
    const { waits, waitOnce } = rig();
    waits(CLIENT, SERVER, CLIENT);
    expect(waitOnce(0)).toEqual([LOOK]);
  });

  test("it always sleeps where it is told so", () => {
    const { waits } = rig(true);
    expect(waits(CLIENT, SERVER, CLIENT, SERVER, CLIENT)).toEqual(Array(5).fill(SLEEP));
  });
});
