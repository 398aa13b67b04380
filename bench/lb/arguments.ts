import { parseArgs } from "node:util";

export interface LbArguments {
  readonly isQuick: boolean;
  readonly isJson: boolean;
  readonly saves: boolean;
  readonly wants: (part: string) => boolean;
  readonly rounds: number;
  readonly seconds: number;
  /** Event loops or threads; undefined for all that are compared. */
  readonly threads: number | undefined;
  /** Folder of another build. */
  readonly beside: string | undefined;
}

const ROUNDS = 5;
const SECONDS = 3;

/** @throws where a part is not known */
export function parseArguments(args: readonly string[], parts: readonly string[]): LbArguments {
  const { values } = parseArgs({
    args: [...args],
    options: {
      quick: { type: "boolean", default: false },
      json: { type: "boolean", default: false },
      save: { type: "boolean", default: false },
      only: { type: "string" },
      rounds: { type: "string" },
      seconds: { type: "string" },
      threads: { type: "string" },
      beside: { type: "string" },
    },
  });
  const only = values.only?.split(",") ?? [];
  for (const part of only) {
    if (!parts.includes(part)) {
      throw new Error(`--only: "${part}" is not valid; expected ${parts.join(", ")}`);
    }
  }
  const isQuick = values.quick;
  return {
    isQuick,
    isJson: values.json,
    saves: values.save,
    wants: (part) => only.length === 0 || only.includes(part),
    rounds: Number(values.rounds ?? (isQuick ? 1 : ROUNDS)),
    seconds: Number(values.seconds ?? (isQuick ? 1 : SECONDS)),
    threads: values.threads === undefined ? undefined : Number(values.threads),
    beside: values.beside,
  };
}
