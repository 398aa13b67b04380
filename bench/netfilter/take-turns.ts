import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { runMortal } from "./namespaces.ts";
import { parseRounds, type RoundTimes } from "./round-times.ts";
import type { Request } from "./traffic-loads.ts";
import { ON_ONE_PROCESSOR } from "./traffic-site.ts";

const SOURCE = join(process.cwd(), "bench", "netfilter", "take-turns.c");

/** From where to where requests go. */
export interface Route<W extends string> {
  readonly way: W;
  /** The path of the network namespace that they come from. */
  readonly namespace: string;
  readonly ip: string;
  readonly port: number;
  /** The folder of the cgroup that they come from; empty for all routes where that does not matter. */
  readonly cgroup: string;
}

export interface Turns<W extends string> {
  readonly request: Request;
  readonly warmUpRounds: number;
  readonly rounds: number;
  readonly routes: readonly Route<W>[];
}

/** The client that takes turns, compiled into a folder. */
export class TurnTaker {
  readonly #program: string;

  constructor(folder: string) {
    this.#program = join(folder, "take-turns");
    execFileSync("gcc", ["-O2", "-o", this.#program, SOURCE]);
  }

  /** Loads one route after the other, again and again. */
  async run<W extends string>(turns: Turns<W>): Promise<readonly RoundTimes<W>[]> {
    const [before = "", ...args] = [...ON_ONE_PROCESSOR, this.#program, ...argumentsOf(turns)];
    const ways = turns.routes.map(({ way }) => way);
    return parseRounds(await runMortal(before, args), ways);
  }
}

/** Those of the program. */
function argumentsOf({ request, warmUpRounds, rounds, routes }: Turns<string>): readonly string[] {
  const { connections, path, bodyBytes } = request;
  const numbers = [bodyBytes, warmUpRounds, rounds].map(String);
  return [connections, path, ...numbers, ...routes.flatMap(argumentsOfRoute)];
}

function argumentsOfRoute({ way, namespace, ip, port, cgroup }: Route<string>): readonly string[] {
  return [way, namespace, ip, String(port), cgroup];
}
