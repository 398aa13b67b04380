import type { ChannelEntry, ChannelId } from "../../net/selector-event-loop.ts";
import type { EngineChannel } from "../engine-channels.ts";

/** The loop that channels are in. */
export interface ChannelHome {
  readonly name: string;
  readonly group: string;
  /** Of this loop only, never of another one later. */
  readonly serial: number;
}

/** What an id says. */
export interface ChannelName {
  readonly kind: EngineChannel["kind"];
  readonly serial: number;
  readonly channel: ChannelId;
}

const ID_FORM = /^(server-sock|connection|session)-(\d+)-(\d+)-(\d+)$/;

/** What the entries of a loop are to those who look at an engine; a session stands beside its connections. */
export function channelsOf(
  home: ChannelHome,
  entries: readonly ChannelEntry[],
): readonly EngineChannel[] {
  return entries.flatMap((entry) => {
    const session = sessionOf(home, entry);
    return session === undefined ? [ownOf(home, entry)] : [ownOf(home, entry), session];
  });
}

/** Undefined where it is no id. */
export function parseChannelId(id: string): ChannelName | undefined {
  const [, kind, ...numbers] = ID_FORM.exec(id) ?? [];
  const [serial, slot, generation] = numbers.map(Number);
  if (kind !== "server-sock" && kind !== "connection" && kind !== "session") return undefined;
  if (serial === undefined || slot === undefined || generation === undefined) return undefined;
  return { kind, serial, channel: { slot, generation } };
}

function ownOf(home: ChannelHome, entry: ChannelEntry): EngineChannel {
  return {
    ...common(home, entry, entry.kind === "listener" ? "server-sock" : "connection"),
    server: entry.server ?? "",
    local: entry.local,
    remote: entry.remote,
    toServer: undefined,
    bytesIn: entry.bytesIn,
    bytesOut: entry.bytesOut,
    accepted: entry.accepted ?? 0,
  };
}

function sessionOf(home: ChannelHome, entry: ChannelEntry): EngineChannel | undefined {
  const { session, local, remote, bytesIn, bytesOut } = entry;
  if (session === undefined) return undefined;
  const { server = "", client, toServer } = session;
  const shared = { ...common(home, entry, "session"), server, accepted: 0 };
  if (client === undefined) return { ...shared, local, remote, toServer, bytesIn, bytesOut };
  // The channel is the server's: what comes by it goes to the client.
  const ends = remote && { local, remote };
  return { ...shared, ...client, toServer: ends, bytesIn: bytesOut, bytesOut: bytesIn };
}

function common(
  { name, group, serial }: ChannelHome,
  { id, listener = "" }: ChannelEntry,
  kind: EngineChannel["kind"],
): Pick<EngineChannel, "id" | "kind" | "loop" | "loopGroup" | "listener"> {
  return {
    id: `${kind}-${serial}-${id.slot}-${id.generation}`,
    kind,
    loop: name,
    loopGroup: group,
    listener,
  };
}
