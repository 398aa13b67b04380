import { median } from "../support/measure.ts";
import type { Figure } from "../support/report.ts";
import { type RoundValues, ratesInTurns, roundRatios } from "./compare.ts";
import type { Extra, ExtraOptions } from "./extra.ts";
import type { ServiceProcess } from "./service-process.ts";

/** Who is compared. */
export type Contestant = "portolan" | "other" | "haproxy";

const LABELS: Readonly<Record<Contestant, string>> = {
  portolan: "Portolan",
  other: "other build",
  haproxy: "HAProxy",
};

/** One way of using the two. */
export interface ContestLoad {
  readonly name: string;
  readonly unit: string;
  /** What a run amounts to, in the unit. */
  run(port: number, options: ExtraOptions): Promise<number>;
}

export interface Contest {
  readonly loads: readonly ContestLoad[];
  /** The least that Portolan shall do, to HAProxy's. */
  readonly limit: number;
  start(name: Contestant): Promise<ServiceProcess>;
}

/** Loads through one loop and through one thread of HAProxy, for a CPU-second of each. */
export async function besideHaproxy(
  { loads, limit, start }: Contest,
  options: ExtraOptions,
): Promise<Extra> {
  const proxies = new Map<Contestant, ServiceProcess>();
  const text: string[] = [];
  const figures: Figure[] = [];
  const values: Record<string, readonly number[]> = {};
  try {
    for (const name of contestants(options)) proxies.set(name, await start(name));
    for (const load of loads) {
      const rates = await ratesInTurns(proxies, options.rounds, (port) => load.run(port, options));
      const value = median(roundRatios(rates, "portolan", "haproxy"));
      const name = `${load.name}: for a CPU-second, to HAProxy's`;
      text.push(load.name, ...renderRates(rates, load.unit));
      figures.push({ name, value, unit: "times", limit, bound: "least" });
      for (const [proxy, all] of rates) values[`${load.name}, ${LABELS[proxy]}`] = all;
    }
  } finally {
    for (const [, proxy] of proxies) await proxy.stop();
  }
  return { text: text.join("\n"), figures, values };
}

function contestants({ otherBuild }: ExtraOptions): readonly Contestant[] {
  return otherBuild === undefined ? ["portolan", "haproxy"] : ["portolan", "other", "haproxy"];
}

/** HAProxy's configuration for one of them. */
export function haproxyConfig(options: {
  readonly mode: "tcp" | "http";
  /** Of the line `bind`. */
  readonly bind: string;
  readonly servers: readonly string[];
  /** Further lines of the section. */
  readonly lines?: readonly string[];
}): string {
  const { mode, bind, servers, lines = [] } = options;
  const own = servers.map((server, index) => `server s${index} ${server} check inter 5s`);
  return `
global
  maxconn 9500
  nbthread 1
defaults
  mode ${mode}
  timeout connect 5s
  timeout client 15m
  timeout server 15m
listen all
  bind ${bind}
  balance roundrobin
${[...lines, ...own].map((line) => `  ${line}`).join("\n")}
`;
}

function renderRates(rates: RoundValues<Contestant>, unit: string): readonly string[] {
  return [...rates].map(([name, all]) => {
    const rate = median(all);
    const shown = rate >= 100 ? Math.round(rate).toLocaleString("en") : rate.toPrecision(3);
    return `  ${LABELS[name].padEnd(14)}${shown} ${unit} a CPU-second`;
  });
}
