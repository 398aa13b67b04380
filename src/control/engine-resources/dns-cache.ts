import type { DnsCacheEntry } from "../engine-port.ts";
import { RESOLVER } from "../engine-port.ts";
import type { ActionCall, ResourceHandler } from "../resource-handler.ts";
import { notFound } from "../resources/refusals.ts";
import type { Result, ResultRecord } from "../result.ts";
import { engineOf } from "./engine-of.ts";
import { namePattern } from "./name-pattern.ts";
import { assertResolver } from "./resolver.ts";
import { scopeOf } from "./scope.ts";

export const DNS_CACHE: ResourceHandler = {
  spec: {
    name: "dns-cache",
    shorts: ["dc"],
    summary:
      "A name whose addresses are remembered: of a server, or one that a dns-server was asked for",
    section: "state",
    isSystem: false,
    scopes: [
      {
        within: [[], ["resolver"], ["dns-server"]],
        actions: {
          list: {
            help: "Shows the names: those of servers, or those that a dns-server keeps",
            params: [],
            examples: ["list dns-cache", "list dns-cache in dns-server dns0"],
          },
          "list-detail": {
            help: "Shows the names with their addresses, and when they are asked for again",
            params: [],
            examples: ["list-detail dns-cache in resolver (default)"],
          },
          remove: {
            help: "Forgets a name, or all that a regular expression between slashes fits; the name of a server is looked up again at once",
            params: [],
            examples: [
              "remove dns-cache db.example from resolver (default)",
              "remove dns-cache /\\.example$/ from dns-server dns0",
            ],
          },
        },
      },
    ],
  },
  actions: {
    list: async (call) => ({ kind: "names", names: (await entriesOf(call)).map(nameOf) }),
    "list-detail": async (call) => ({
      kind: "records",
      records: (await entriesOf(call)).map(recordOf),
    }),
    remove,
  },
};

const MS_A_SECOND = 1000;

/** In the order of their names. */
async function entriesOf({ within, world }: ActionCall): Promise<readonly DnsCacheEntry[]> {
  const engine = engineOf(world);
  const holder = holderOf({ within, world });
  const entries = await engine.dnsCache();
  return entries
    .filter((entry) => entry.holder === holder)
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

function holderOf({ within, world }: Pick<ActionCall, "within" | "world">): string {
  const [place] = within;
  if (place?.type === "dns-server") {
    const scope = scopeOf(within, world);
    return scope.kind === "listener" ? scope.key : RESOLVER;
  }
  if (place !== undefined) assertResolver(place.name);
  return RESOLVER;
}

function nameOf({ name }: DnsCacheEntry): string {
  return name;
}

function recordOf({ name, addresses, expiresInMs }: DnsCacheEntry): ResultRecord {
  return { name, addresses, "expires-in": Math.ceil(expiresInMs / MS_A_SECOND) };
}

async function remove(call: ActionCall): Promise<Result> {
  const { command, world } = call;
  const pattern = namePattern(command.name);
  const entries = await entriesOf(call);
  const meant = pattern.choose(entries, nameOf);
  const engine = engineOf(world);
  const dropped = await Promise.all(
    meant.map(({ holder, name }) => engine.dropDnsCache(holder, name)),
  );
  const count = dropped.filter((isDropped) => isDropped).length;
  if (count === 0 && !pattern.isPattern) {
    throw notFound("dns-cache", command.name, entries.map(nameOf));
  }
  return { kind: "done", note: `${count} ${count === 1 ? "name" : "names"} forgotten` };
}
