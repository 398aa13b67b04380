import { expect, test } from "vitest";
import { CoreError } from "../core/errors.ts";
import { ACTIONS, type Caller } from "./command.ts";
import { CERT_FILE, KEY_FILE, MemoryWorld } from "./control-world.fixture.ts";
import { createControl } from "./create-control.ts";
import { hundredCommands } from "./hundred-commands.fixture.ts";
import { DESIRED_RESOURCES } from "./resources/table.ts";
import type { Result } from "./result.ts";

const CONSOLE: Caller = { via: "console", from: "test", maySystem: true };
const COMMANDS = hundredCommands({
  firstPort: 20_000,
  certFile: CERT_FILE,
  keyFile: KEY_FILE,
  folder: "/saved",
});

async function runAll(): Promise<readonly (Result | string)[]> {
  const control = createControl(new MemoryWorld());
  const results: (Result | string)[] = [];
  for (const { line } of COMMANDS) {
    try {
      results.push(await control.run(control.parse(line), CONSOLE));
    } catch (error) {
      if (!(error instanceof CoreError)) throw error;
      results.push(error.code);
    }
  }
  return results;
}

test("each command is carried out, or refused with its code", async () => {
  const results = await runAll();
  const outcomes = COMMANDS.map(({ line }, index) => {
    const result = results[index];
    return { line, refused: typeof result === "string" ? result : undefined };
  });
  expect(outcomes).toEqual(COMMANDS);
});

test("twice they have the same results", async () => {
  expect(await runAll()).toEqual(await runAll());
});

test("every resource of the desired state and every action is among them", () => {
  const control = createControl(new MemoryWorld());
  const given = new Set<string>();
  for (const { line, refused } of COMMANDS) {
    if (refused !== undefined) continue;
    const command = control.parse(line);
    if (command.kind === "resource") given.add(command.type).add(command.action);
  }
  const wanted = [...DESIRED_RESOURCES.map(({ spec }) => spec.name), ...ACTIONS];
  expect(wanted.filter((word) => !given.has(word))).toEqual([]);
});
