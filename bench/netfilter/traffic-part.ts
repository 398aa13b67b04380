import { median } from "../support/measure.ts";
import type { Figure } from "../support/report.ts";
import { least, most, progress, type Setting, stateOf } from "./setting.ts";
import { argumentsOf, SYNC } from "./sync-once.ts";
import { measureTraffic } from "./traffic.ts";

const LEAST_SHARE = 0.9;
/** In turns with no proxy: what disturbs the machine for a while disturbs both. */
const ROUNDS_A_ROUND = 3;

/** What the services of a backend cost traffic that goes through one of them. */
export async function measureTrafficOf(
  setting: Setting,
  name: string,
  backend: string,
  flags: Readonly<Record<string, string>>,
): Promise<readonly Figure[]> {
  const { folder, services, seconds } = setting;
  const rounds = setting.rounds * ROUNDS_A_ROUND;
  progress(`${name}: traffic through ${services} services`);
  const file = stateOf(setting, services);
  const result = await measureTraffic(folder, { rounds, seconds }, async (node) => {
    await node.runTask(SYNC, argumentsOf({ backend, file, changes: 0, flags }));
  });
  return [
    least(
      `${name}: requests a second, to no proxy at all`,
      median(result.keepAlive),
      "times",
      LEAST_SHARE,
    ),
    least("  to a single rule that translates", median(result.keepAliveToRule), "times"),
    least("  new connections a second, to no proxy at all", median(result.short), "times"),
    least("  to a single rule that translates", median(result.shortToRule), "times"),
    most("  until a connection stands", result.connectMicroseconds, "µs"),
    most("  the same without a proxy", result.plainMicroseconds, "µs"),
  ];
}
