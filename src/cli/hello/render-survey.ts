import type { Colour, Paint } from "../text/paint.ts";
import { type Survey, type Surveyed, type Verdict, verdictOf } from "./survey.ts";

const WORDS: Readonly<Record<Verdict, readonly [word: string, colour: Colour]>> = {
  works: ["works", "green"],
  degraded: ["works, but", "yellow"],
  missing: ["does not", "red"],
};
const WORD_WIDTH = Math.max(...Object.values(WORDS).map(([word]) => word.length));

/** For people: what works, and beneath what does not what would help. */
export function renderSurvey(survey: Survey, paint: Paint): readonly string[] {
  const { auto } = survey;
  return [
    ...sectionLines("Event loops", survey.providers, paint),
    ...sectionLines("Data planes", survey.backends, paint),
    ...sectionLines("Kernel", survey.kernel, paint),
    auto === undefined
      ? paint("red", "No data plane works here.")
      : `--to auto chooses ${paint("bold", auto)} here.`,
  ];
}

function sectionLines(title: string, things: readonly Surveyed[], paint: Paint): readonly string[] {
  if (things.length === 0) return [];
  const width = Math.max(...things.map(({ name }) => name.length));
  return [paint("bold", title), ...things.flatMap((thing) => thingLines(thing, width, paint)), ""];
}

function thingLines(thing: Surveyed, width: number, paint: Paint): readonly string[] {
  const [word, colour] = WORDS[verdictOf(thing)];
  return [
    `  ${thing.name.padEnd(width)}  ${paint(colour, word)}${" ".repeat(WORD_WIDTH - word.length)}  ${paint("grey", thing.summary)}`,
    ...thing.findings.map(({ what, remedy }) => `  ${" ".repeat(width)}  - ${what}: ${remedy}`),
  ];
}
