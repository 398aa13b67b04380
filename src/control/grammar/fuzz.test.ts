import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { expect, test } from "vitest";
import { CoreError } from "../../core/errors.ts";
import { typedCommands } from "./command.fixture.ts";
import { complete } from "./complete.ts";
import { formatCommand } from "./format-command.ts";
import { parseCommand, parseWords } from "./parse-command.ts";
import { FIXTURE_RESOURCES } from "./resources.fixture.ts";

const VOCABULARY = [
  ...["add", "list", "L", "u", "rm", "R", "in", "to", "from", "man", "help", "save", "System:"],
  ...FIXTURE_RESOURCES.flatMap(({ name, shorts }) => [name, ...shorts]),
  ...["address", "weight", "protocol", "annotations", "cert-key", "falls-back", "password"],
  ...["lb0", "10.0.0.1:80", "10", "{}", '{"a":"b"}', '{"a', '"', "'a b'", '""', "#", "__proto__"],
];

const words = fc.constantFrom(...VOCABULARY);
const lines = fc.oneof(
  fc.string({ maxLength: 60 }),
  fc.string({ unit: "binary", maxLength: 60 }),
  fc.array(words, { maxLength: 12 }).map((list) => list.join(" ")),
);

test("random lines are commands or refused with ERR_USAGE", () => {
  fc.assert(fc.property(lines, isCommandOrRefused), { numRuns: 3000 });
});

test("real commands that were cut, or lost a piece, are commands or refused with ERR_USAGE", () => {
  const commands = typedCommands(FIXTURE_RESOURCES).map(formatCommand);
  fc.assert(
    fc.property(commands, fc.nat(), fc.nat({ max: 8 }), (line, at, length) => {
      const place = at % (line.length + 1);
      isCommandOrRefused(line.slice(0, place));
      isCommandOrRefused(line.slice(place));
      isCommandOrRefused(line.slice(0, place) + line.slice(place + length));
    }),
    { numRuns: 3000 },
  );
});

test("random words that came apart are commands or refused with ERR_USAGE", () => {
  const list = fc.array(fc.oneof(words, fc.string({ maxLength: 8 })), { maxLength: 12 });
  fc.assert(
    fc.property(list, (apart) => {
      refusedOr(() => parseWords(apart, FIXTURE_RESOURCES));
    }),
    { numRuns: 2000 },
  );
});

/** A command must also be one when it is written and read again. */
function isCommandOrRefused(line: string): void {
  complete(line, FIXTURE_RESOURCES, () => []);
  const command = refusedOr(() => parseCommand(line, FIXTURE_RESOURCES));
  if (command === undefined) return;
  const again = parseCommand(formatCommand(command), FIXTURE_RESOURCES);
  if (!isDeepStrictEqual(again, command)) expect(again).toEqual(command);
}

function refusedOr<T>(run: () => T): T | undefined {
  try {
    return run();
  } catch (error) {
    // Asked plainly: an expectation for each of so many lines would take most of the time.
    if (error instanceof CoreError && error.code === "ERR_USAGE" && error.problems.length > 0) {
      return undefined;
    }
    throw error;
  }
}
