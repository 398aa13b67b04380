import type { ResourceRef } from "../command.ts";
import type { EngineChannel, TrafficTotals } from "../engine-port.ts";
import type { ActionCall, ResourceHandler } from "../resource-handler.ts";
import type { ResourceName } from "../resource-names.ts";
import { notFound } from "../resources/refusals.ts";
import { channelName } from "./channel-records.ts";
import { engineOf } from "./engine-of.ts";
import {
  isWithin,
  LISTENER_PLACES,
  LOOP_PLACES,
  type Scope,
  SERVER_PLACES,
  scopeOf,
} from "./scope.ts";

/** One number of those that are counted. */
export interface Figure {
  readonly name: ResourceName;
  readonly shorts: readonly string[];
  readonly summary: string;
  /** The channels that it is counted of. */
  readonly channels: readonly ("server-sock" | "connection" | "session")[];
  readonly ofTotals: (totals: TrafficTotals) => number;
  readonly ofChannel: (channel: EngineChannel) => number;
}

const NO_TOTALS: TrafficTotals = {
  connections: 0,
  totalConnections: 0,
  bytesIn: 0,
  bytesOut: 0,
  failures: 0,
};

/** A number that can only be listed. */
export function figureHandler(figure: Figure): ResourceHandler {
  const { name, shorts, summary } = figure;
  return {
    spec: {
      name,
      shorts,
      summary,
      section: "statistics",
      isSystem: false,
      scopes: [
        {
          within: placesOf(figure),
          actions: {
            list: {
              help: "Shows the number, counted since what it is of was there",
              params: [],
              examples: [
                `list ${name} in tcp-lb lb0`,
                `list ${name} in server s1 in server-group g0`,
                `list ${name} in server-sock 0.0.0.0:80 in tcp-lb lb0`,
              ],
            },
          },
        },
      ],
    },
    actions: { list: async (call) => ({ kind: "number", value: await count(figure, call) }) },
  };
}

function placesOf({ channels }: Figure): readonly (readonly ResourceName[])[] {
  const inside = channels.flatMap((type) => {
    const outer = [...LISTENER_PLACES, ...LOOP_PLACES];
    const all = type === "server-sock" ? outer : [...outer, ...SERVER_PLACES];
    return all.map((place): readonly ResourceName[] => [type, ...place]);
  });
  return [...LISTENER_PLACES, ...SERVER_PLACES, ...inside];
}

async function count(figure: Figure, { within, world }: ActionCall): Promise<number> {
  const [nearest, ...outer] = within;
  if (nearest !== undefined && isChannelType(nearest.type)) {
    const scope = scopeOf(outer, world);
    const channels = (await engineOf(world).channels()).filter((one) => isWithin(one, scope));
    return countChannels(figure, nearest, scope, channels, () => engineOf(world).listenerTotals());
  }
  const engine = engineOf(world);
  const scope = scopeOf(within, world);
  if (scope.kind === "loop") return 0;
  const totals = scope.kind === "server" ? engine.servers() : engine.listenerTotals();
  return figure.ofTotals(totals.get(scope.key) ?? NO_TOTALS);
}

function isChannelType(type: ResourceName): type is EngineChannel["kind"] {
  return type === "server-sock" || type === "connection" || type === "session";
}

/** Several sockets may have one name: each loop that accepts has its own. */
function countChannels(
  figure: Figure,
  { type, name }: ResourceRef,
  scope: Scope,
  channels: readonly EngineChannel[],
  totals: () => ReadonlyMap<string, TrafficTotals>,
): number {
  const ofType = channels.filter(({ kind }) => kind === type);
  const named = ofType.filter((channel) => channelName(channel) === name);
  if (named.length === 0) throw notFound(type, name, ofType.map(channelName));
  const isOfSocket = type === "server-sock" && figure.name !== "accepted-conn-count";
  // What clients move is counted where they are served, which need not be where they were accepted.
  if (isOfSocket && scope.kind === "listener") {
    return figure.ofTotals(totals().get(scope.key) ?? NO_TOTALS);
  }
  const counted = isOfSocket ? onceForEachListener(named) : named;
  return counted.reduce((sum, channel) => sum + figure.ofChannel(channel), 0);
}

/** The sockets of a listener in one loop all tell what its clients there have moved. */
function onceForEachListener(channels: readonly EngineChannel[]): readonly EngineChannel[] {
  const first = new Map<string, EngineChannel>();
  for (const channel of channels) first.set(`${channel.loop}\n${channel.listener}`, channel);
  return [...first.values()];
}
