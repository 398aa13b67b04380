import { describe, expect, test } from "vitest";
import { requires } from "../../../test/support/requires.ts";
import { PosixSelector } from "./posix-selector.ts";

const SLEEP = 1000;
const LOOK = 0;

/** Tells events as they are scripted, and notes how it was asked for them. */
class ScriptedEvents {
  readonly timeouts: number[] = [];
  /** The slots of each wait to come; where none is left, nothing happened. */
  script: (readonly number[])[] = [];
  /** Whether what is to come does so only when it sleeps. */
  isLate = false;
  #slots: readonly number[] = [];

  wait(timeoutMs: number): number {
    this.timeouts.push(timeoutMs);
    this.#slots = (this.isLate && timeoutMs === LOOK ? undefined : this.script.shift()) ?? [];
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

/** Each look at the clock is a hundredth of a millisecond later than the last. */
function rig(alwaysSleeps = false) {
  const events = new ScriptedEvents();
  const clock = { ms: 0, yieldMs: 0 };
  const nowMs = () => {
    clock.ms += 0.01;
    return clock.ms;
  };
  const yieldProcessor = () => {
    clock.ms += clock.yieldMs;
  };
  const looks = { count: 0 };
  const onLook = () => {
    looks.count += 1;
  };
  const selector = new PosixSelector(events, { alwaysSleeps, onLook, nowMs, yieldProcessor });
  return {
    clock,
    looks,
    /** How it waited for these, one list of slots a wait. */
    waits: (...script: readonly (readonly number[])[]) => {
      events.isLate = false;
      events.script = [...script];
      events.timeouts.length = 0;
      while (events.script.length > 0) selector.wait(SLEEP);
      return [...events.timeouts];
    },
    /** This one comes when it sleeps. */
    comesLate: (slots: readonly number[]) => {
      events.isLate = true;
      events.script = [slots];
      selector.wait(SLEEP);
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
    expect(looked).toEqual([...Array(21).fill(LOOK), SLEEP]);
    // The next time it goes to sleep at once, then it tries again.
    waits(CLIENT, SERVER);
    expect(waits(CLIENT, SERVER, CLIENT, SERVER, CLIENT)).toContain(LOOK);
  });

  test("a look that takes as long as to be woken does not pay", () => {
    const { waits, clock } = rig();
    waits(CLIENT, SERVER, CLIENT);
    clock.yieldMs = 0.05;
    waits(NOTHING, NOTHING, SERVER);
    clock.yieldMs = 0;
    // That side is not looked for the next time, the other one still is.
    expect(waits(NOTHING, CLIENT)).toEqual([LOOK, LOOK]);
    expect(waits(SERVER)).toEqual([SLEEP]);
  });

  test("where others had the processor meanwhile it tells what came, and leaves it for longer each time", () => {
    const { waits, clock } = rig();
    waits(CLIENT, SERVER, CLIENT);
    for (const pause of [15, 31, 63]) {
      clock.yieldMs = 0.6;
      expect(waits(NOTHING, SERVER)).toEqual([LOOK, LOOK]);
      clock.yieldMs = 0;
      for (let time = 0; time < pause; time += 1) {
        expect(waits(CLIENT)).toEqual([LOOK]);
        expect(waits(SERVER)).toEqual([SLEEP]);
      }
      expect(waits(CLIENT)).toEqual([LOOK]);
    }
  });

  test("a side that never pays does not keep the other one from being looked for", () => {
    const { waits, comesLate } = rig();
    waits(CLIENT, SERVER);
    // The server answers at once, the client takes its time.
    for (let request = 0; request < 40; request += 1) {
      comesLate(CLIENT);
      expect(waits(NOTHING, SERVER)).toEqual([LOOK, LOOK]);
    }
  });

  test("a side alone is looked for, too; nothing at all is not", () => {
    const { waits } = rig();
    expect(waits(CLIENT, CLIENT, CLIENT)).toEqual([SLEEP, SLEEP, LOOK]);
    expect(rig().waits(NOTHING, NOTHING, NOTHING)).toEqual([SLEEP, SLEEP, SLEEP]);
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
    clock.ms += 0.08;
    expect(waits(SERVER)).toEqual([LOOK]);
    clock.ms += 0.1;
    expect(waitOnce(SLEEP)).toEqual([SLEEP]);
  });

  test("a timer is not late by what a look took", () => {
    const { waits, waitOnce, clock } = rig();
    waits(CLIENT, SERVER, CLIENT);
    clock.yieldMs = 9;
    expect(waitOnce(10)).toEqual([LOOK, LOOK, 1]);
    waits(SERVER, CLIENT, SERVER);
    clock.yieldMs = 11;
    expect(waitOnce(10)).toEqual([LOOK, LOOK, 0]);
  });

  test("it tells each time that it stays awake, not what came at once", () => {
    const { waits, looks } = rig();
    waits(CLIENT, SERVER, CLIENT);
    waits(SERVER);
    expect(looks.count).toBe(0);
    waits(NOTHING, NOTHING, NOTHING, CLIENT);
    expect(looks.count).toBe(1);
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
