/**
 * How many calls of HCN it takes, on the fake and through the real bindings on a stand-in of the DLL under
 * Wine: a first sync of 1,000 services with 10 endpoints each, one endpoint's change, and nothing.
 *
 *     npm run bench -- hcn [--json] [--fake]
 */
import { type CallCounts, MINIMAL, measureFake } from "./hcn/measure-calls.ts";
import { measureOnStandIn } from "./hcn/stand-in.ts";
import { type Figure, isMet, renderJson, renderTable } from "./support/report.ts";

/** And one that closes the handle of what was made. */
const MINIMAL_DLL = 2 * MINIMAL;

const figures: readonly Figure[] = [
  ...figuresOf("fake", await measureFake()),
  ...(process.argv.includes("--fake") ? [] : standInFigures(await measureOnStandIn())),
];
console.log(process.argv.includes("--json") ? renderJson(figures) : renderTable(figures));
if (!figures.every(isMet)) process.exitCode = 1;

function figuresOf(where: string, { first, change, again, look }: CallCounts): readonly Figure[] {
  const calls = { unit: "calls" };
  return [
    { name: `${where}: first sync`, value: first.calls, ...calls },
    {
      name: "  against one for each object",
      value: first.calls / MINIMAL,
      unit: "times",
      limit: 1.1,
    },
    { name: `${where}: one endpoint's change`, value: change.calls, ...calls, limit: 3 },
    { name: `${where}: nothing changed`, value: again.calls, ...calls, limit: 0 },
    { name: `${where}: the look after each period`, value: look.calls, ...calls, limit: 1 },
    {
      name: "  enumerations in the last three",
      value: change.enumerations + again.enumerations + look.enumerations,
      ...calls,
      limit: 0,
    },
  ];
}

function standInFigures(counts: CallCounts): readonly Figure[] {
  const { first, change } = counts;
  return [
    ...figuresOf("stand-in", counts),
    {
      name: "stand-in: with opening and closing, first sync",
      value: first.dllCalls,
      unit: "calls",
    },
    {
      name: "  against making and closing each object",
      value: first.dllCalls / MINIMAL_DLL,
      unit: "times",
      limit: 1.1,
    },
    { name: "stand-in: with them, one endpoint's change", value: change.dllCalls, unit: "calls" },
  ];
}
