import { setTimeout as wait } from "node:timers/promises";
import { expect } from "vitest";
import { callInstance } from "../../src/daemon/instance-socket/client.ts";
import { instancePath } from "../../src/daemon/presence.ts";
import { seededRandom } from "../support/seeded-random.ts";
import { makeStateFolder, NO_PORTS, startUp } from "./up-fixture.ts";

/** What may be true of a group after a restart. */
type Belief = "there" | "gone" | "either";

const CALLERS = 4;
/** Made by one request: all of them are there, or none. */
const BATCH = 5;
const MAX_LIFE_MS = 400;

/**
 * Kills a real process again and again while commands are under way. After each restart all that was
 * acknowledged is there, and nothing is there by half.
 */
export async function killAgainAndAgain(kills: number): Promise<void> {
  const state = makeStateFolder();
  const path = instancePath(state);
  const random = seededRandom(kills);
  const beliefs = new Map<string, Belief>();
  const batches = new Map<number, Belief>();
  let last = 0;
  let acknowledged = 0;

  /** Gives one command; what is known of it before and after decides what must be true. */
  const act = async (): Promise<void> => {
    last += 1;
    const kind = random();
    const known = [...beliefs].filter(([, belief]) => belief === "there").map(([name]) => name);
    const old = known[Math.floor(random() * known.length)];
    if (kind < 0.2) {
      const batch = last;
      batches.set(batch, "either");
      const objects = Array.from({ length: BATCH }, (_, index) => ({
        kind: "Group",
        name: `batch-${batch}-${index}`,
      }));
      await callInstance(path, "apply", { objects, prune: false, dryRun: false });
      batches.set(batch, "there");
    } else if (kind < 0.5 && old !== undefined) {
      beliefs.set(old, "either");
      await callInstance(path, "command", { line: `remove server-group ${old}` });
      beliefs.set(old, "gone");
    } else {
      const name = `g${last}`;
      beliefs.set(name, "either");
      await callInstance(path, "command", { line: `add server-group ${name}` });
      beliefs.set(name, "there");
    }
    acknowledged += 1;
  };

  for (let round = 0; round <= kills; round += 1) {
    const up = await startUp(state, [...NO_PORTS, "--to", "print", "--log-level", "info"]);
    const keys = new Set(await up.keys("Group"));
    check(beliefs, batches, keys, round);
    if (round === kills) break;
    let isOver = false;
    const callers = Array.from({ length: CALLERS }, async () => {
      // A call that is cut off is not acknowledged; any other failure is one of the test.
      while (!isOver) {
        await act().catch((error: unknown) => {
          if (!String(error).includes("no instance answers")) throw error;
          isOver = true;
        });
      }
    });
    await wait(random() * MAX_LIFE_MS);
    await up.cli.stop("SIGKILL");
    await Promise.all(callers);
  }
  expect(acknowledged).toBeGreaterThan(kills);
}

/** Compares what is believed with what is there; from then on that is known. */
function check(
  beliefs: Map<string, Belief>,
  batches: Map<number, Belief>,
  keys: ReadonlySet<string>,
  round: number,
): void {
  for (const [name, belief] of beliefs) {
    const isThere = keys.has(`default/${name}`);
    if (belief !== "either")
      expect(isThere, `${name} after kill ${round}`).toBe(belief === "there");
    beliefs.set(name, isThere ? "there" : "gone");
  }
  for (const [batch, belief] of batches) {
    const count = Array.from({ length: BATCH }, (_, index) =>
      keys.has(`default/batch-${batch}-${index}`),
    ).filter((isThere) => isThere).length;
    const expected = belief === "there" ? [BATCH] : [0, BATCH];
    expect(expected, `batch ${batch} after kill ${round}`).toContain(count);
    if (count === BATCH) batches.set(batch, "there");
    else batches.delete(batch);
  }
}
