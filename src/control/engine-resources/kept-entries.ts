import type { ControlWorld, RuntimeEntry, RuntimeName } from "../world.ts";

/** Keeps what was made; where that fails it is undone. */
export async function keepOr(
  world: ControlWorld,
  entry: RuntimeEntry,
  undo: () => Promise<void>,
): Promise<void> {
  try {
    await world.keep({ add: [entry], remove: [] });
  } catch (error) {
    await undo();
    throw error;
  }
}

/** Ends what was kept, and keeps it no longer; where it can not be ended it stays kept. */
export async function endKept(
  world: ControlWorld,
  isOne: (entry: RuntimeEntry) => boolean,
  end: () => Promise<void>,
): Promise<void> {
  const entries = world.kept().filter(isOne);
  const isKept = entries.length > 0;
  if (isKept) await world.keep({ add: [], remove: entries.map(nameOf) });
  try {
    await end();
  } catch (error) {
    if (isKept) await world.keep({ add: entries, remove: [] });
    throw error;
  }
}

/** Only what it is called by: whatever else an entry has is not to be written down. */
function nameOf({ kind, name }: RuntimeEntry): RuntimeName {
  return { kind, name };
}
