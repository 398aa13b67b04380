import fc from "fast-check";
import { expect, test } from "vitest";
import { CoreError } from "../../core/errors.ts";
import { KINDS, keyOf, type ModelObject } from "../../core/model/object.ts";
import { formatCommand } from "../grammar/format-command.ts";
import { randomCommand } from "../random-commands.fixture.ts";
import { TypedControl } from "../typed.fixture.ts";

const FILE = "/saved.conf";

/** Types a command, be it refused. */
async function tryLine(instance: TypedControl, line: string): Promise<void> {
  try {
    await instance.type(line);
  } catch (error) {
    expect(error).toBeInstanceOf(CoreError);
  }
}

function objectsOf({ world }: TypedControl): ReadonlyMap<string, ModelObject> {
  const objects = KINDS.flatMap((kind) => [...world.store.objects(kind)]);
  return new Map(objects.map((object) => [`${object.kind} ${keyOf(object)}`, object]));
}

test("loading what was saved of a random system gives the same system, and the same text", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(randomCommand(), { minLength: 20, maxLength: 80 }),
      async (commands) => {
        const instance = new TypedControl();
        for (const command of commands) await tryLine(instance, formatCommand(command));
        const text = await instance.text("list config");
        const other = new TypedControl();
        other.world.files.set(FILE, text);
        await other.type(`load ${FILE}`);
        expect(objectsOf(other)).toEqual(objectsOf(instance));
        expect(new Set(other.world.kept())).toEqual(new Set(instance.world.kept()));
        expect(await other.text("list config")).toBe(text);
        // No object of commands needs more than commands.
        expect(text).not.toContain("System: set");
      },
    ),
    { numRuns: 40 },
  );
});
