import type { CliContext } from "../command-spec.ts";

export type Colour = "red" | "green" | "yellow" | "grey" | "bold";

/** Gives a text its colour, or leaves it as it is. */
export type Paint = (colour: Colour, text: string) => string;

/** Of ECMA-48, SGR. */
const SGR: Readonly<Record<Colour, readonly [on: number, off: number]>> = {
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  grey: [90, 39],
  bold: [1, 22],
};

export const NO_PAINT: Paint = (_, text) => text;

export const TERMINAL_PAINT: Paint = (colour, text) => {
  const [on, off] = SGR[colour];
  return text === "" ? "" : `\u001b[${on}m${text}\u001b[${off}m`;
};

/** Colours are for a terminal only, and not where `NO_COLOR` asks for none (no-color.org). */
export function paintFor({ stdout, environment }: CliContext): Paint {
  const isUnwanted = (environment["NO_COLOR"] ?? "") !== "" || environment["TERM"] === "dumb";
  return stdout.isTTY === true && !isUnwanted ? TERMINAL_PAINT : NO_PAINT;
}
