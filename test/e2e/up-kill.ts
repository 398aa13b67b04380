import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { expect } from "vitest";
import { CONTROL_OWNER } from "../../src/control/world.ts";
import { CoreError } from "../../src/core/errors.ts";
import { callInstance } from "../../src/daemon/instance-socket/client.ts";
import { instancePath } from "../../src/daemon/presence.ts";
import { seededRandom } from "../support/seeded-random.ts";
import { makeStateFolder, NO_PORTS, startUp, type Up } from "./up-fixture.ts";
import { type DeedOptions, drawDeed } from "./up-kill-deeds.ts";
import { type Deed, KillModel, type Made, textOf } from "./up-kill-model.ts";

const CALLERS = 4;
const MAX_LIFE_MS = 400;
const REFUSED_SHARE = 0.1;
const ARGS = [...NO_PORTS, "--to", "userspace", "--loops", "1", "--log-level", "info"];

/** Gives commands of its own, and knows what they come to. */
class KillCaller {
  readonly #path: string;
  readonly #options: DeedOptions;
  readonly #model = new KillModel();
  /** What is true if the last deed did not come to pass; undefined where its answer was heard. */
  #before: Made | undefined;
  acknowledged = 0;

  constructor(path: string, options: DeedOptions) {
    this.#path = path;
    this.#options = options;
  }

  /** @returns whether the instance still answers */
  async act(): Promise<boolean> {
    const before = this.#model.made();
    let deed = drawDeed(this.#options);
    let expected = await this.#model.do(deed);
    // What is refused changes nothing, here and there: only some of it is tried.
    while (expected !== undefined && this.#options.random() > REFUSED_SHARE) {
      deed = drawDeed(this.#options);
      expected = await this.#model.do(deed);
    }
    this.#before = before;
    const answer = await this.#ask(deed);
    if (answer === "cut off") return false;
    expect(answer, JSON.stringify(deed)).toBe(expected);
    this.#before = undefined;
    if (answer === undefined) this.acknowledged += 1;
    return true;
  }

  /** Compares what may be true with what is; from then on that is known. */
  async check(up: Up, objects: Made["objects"], round: number): Promise<void> {
    const { own, makesLoops } = this.#options;
    const made: Made = {
      objects: objects.filter((object) => "namespace" in object && object.namespace === own),
      loops: makesLoops ? await loopsOf(up, `${own}-elg`) : new Map(),
    };
    const possible = [this.#model.made(), ...(this.#before ? [this.#before] : [])];
    const found = possible.find((one) => textOf(one) === textOf(made));
    if (found === undefined) expect(made, `${own} after kill ${round}`).toEqual(possible[0]);
    await this.#model.become(made);
    this.#before = undefined;
  }

  /** @returns the code that it is refused with; undefined where it is done */
  async #ask(deed: Deed): Promise<string | undefined> {
    try {
      if (deed.kind === "command") await callInstance(this.#path, "command", { line: deed.line });
      else {
        const { objects } = deed;
        await callInstance(this.#path, "apply", { objects, prune: false, dryRun: false });
      }
      return undefined;
    } catch (error) {
      if (String(error).includes("no instance answers")) return "cut off";
      // A loop that was removed keeps its name until its thread has ended.
      if (String(error).includes("is being ended still")) return this.#ask(deed);
      if (error instanceof CoreError) return error.code;
      throw error;
    }
  }
}

async function loopsOf(up: Up, group: string): Promise<Made["loops"]> {
  const groups = await namesIn(up, "list event-loop-group");
  if (!groups.includes(group)) return new Map();
  return new Map([[group, await namesIn(up, `list event-loop in event-loop-group ${group}`)]]);
}

async function namesIn(up: Up, line: string): Promise<readonly string[]> {
  const result = await up.command(line);
  if (result.kind !== "names") throw new TypeError(`${line}: ${result.kind}, not names`);
  return result.names;
}

/** What a run of kills came to. */
export interface KillCount {
  readonly kills: number;
  readonly acknowledged: number;
}

/**
 * Kills real processes again and again while commands are under way. After each restart all that was
 * acknowledged is there, and nothing is there by half.
 *
 * @param lanes instances side by side, each with its share of the kills: to start one takes longer than it lives
 */
export async function killAgainAndAgain(kills: number, lanes = 1): Promise<KillCount> {
  const shares = Array.from({ length: lanes }, (_, lane) => Math.floor((kills + lane) / lanes));
  const counts = await Promise.all(shares.map((share, lane) => killInLane(share, lane)));
  const sum = (of: (count: KillCount) => number): number =>
    counts.reduce((total, count) => total + of(count), 0);
  const count = { kills: sum((one) => one.kills), acknowledged: sum((one) => one.acknowledged) };
  expect(count.kills).toBe(kills);
  expect(count.acknowledged).toBeGreaterThan(kills);
  return count;
}

async function killInLane(share: number, lane: number): Promise<KillCount> {
  const state = makeStateFolder();
  const path = instancePath(state);
  const folder = join(dirname(state), "s");
  mkdirSync(folder);
  const random = seededRandom(share + lane);
  const callers = Array.from({ length: CALLERS }, (_, index) => {
    const options = { own: `c${index}`, folder, makesLoops: index === 0, random };
    return new KillCaller(path, options);
  });
  let kills = 0;
  for (;;) {
    const up = await startUp(state, ARGS);
    const { objects: all } = await callInstance(path, "get", {});
    const objects = all.filter(({ owner }) => owner === CONTROL_OWNER).map(({ object }) => object);
    for (const caller of callers) await caller.check(up, objects, kills);
    if (kills === share) break;
    const acting = callers.map(async (caller) => {
      while (await caller.act());
    });
    await wait(random() * MAX_LIFE_MS);
    const { signal } = await up.cli.stop("SIGKILL");
    expect(signal).toBe("SIGKILL");
    await Promise.all(acting);
    kills += 1;
  }
  const acknowledged = callers.reduce((sum, caller) => sum + caller.acknowledged, 0);
  return { kills, acknowledged };
}
