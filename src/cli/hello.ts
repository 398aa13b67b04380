import process from "node:process";
import { readVersion } from "../daemon/version.ts";
import type { CommandInput, CommandSpec } from "./command-spec.ts";
import { EXIT_OK } from "./exit-codes.ts";
import { JSON_OPTION, resolveFlags } from "./flags.ts";
import { renderSurvey } from "./hello/render-survey.ts";
import { verdictOf } from "./hello/survey.ts";
import { surveyMachine } from "./hello/survey-machine.ts";
import { paintFor } from "./text/paint.ts";

export const HELLO: CommandSpec = {
  name: "hello",
  summary: "say what works on this machine, and what would help where it does not",
  description: "Looks at event loops, data planes and the kernel, and changes nothing.",
  arguments: [],
  optionGroups: [{ title: "Output", specs: JSON_OPTION }],
  examples: [
    { help: "for people", command: "hello" },
    { help: "for a script", command: "hello --json" },
  ],
  run: hello,
};

async function hello(input: CommandInput): Promise<number> {
  const { context } = input;
  const { json } = resolveFlags(JSON_OPTION, input);
  const survey = await surveyMachine();
  if (json) {
    const { auto, ...sections } = survey;
    const judged = Object.entries(sections).map(([section, things]) => [
      section,
      things.map((thing) => ({ ...thing, verdict: verdictOf(thing) })),
    ]);
    const all = { version: readVersion(), auto: auto ?? null, ...Object.fromEntries(judged) };
    context.stdout.write(`${JSON.stringify(all)}\n`);
    return EXIT_OK;
  }
  const { version, platform, arch } = process;
  const head = `portolan ${readVersion()} on ${platform} ${arch}, node ${version}`;
  const lines = [head, "", ...renderSurvey(survey, paintFor(context))];
  context.stdout.write(`${lines.join("\n")}\n`);
  return EXIT_OK;
}
