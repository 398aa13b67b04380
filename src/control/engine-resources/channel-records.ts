import { formatSocketAddress } from "../../platform/socket-address.ts";
import type { EngineChannel } from "../engine-port.ts";
import { nameOfKey } from "../resources/names.ts";
import type { ResultRecord } from "../result.ts";

/** Where the other end is not known (yet). */
const NOWHERE = "-";

/** What a channel is called: a socket by its address, others by `local/remote`. */
export function channelName({ kind, local, remote }: EngineChannel): string {
  const from = formatSocketAddress(local);
  return kind === "server-sock" ? from : `${from}/${addressOf(remote)}`;
}

export function serverSockRecord(channel: EngineChannel): ResultRecord {
  return {
    name: channelName(channel),
    ...placeOf(channel),
    "accepted-conn-count": channel.accepted,
    ...trafficOf(channel),
  };
}

export function connectionRecord(channel: EngineChannel): ResultRecord {
  const { local, remote } = channel;
  return {
    name: channelName(channel),
    local: addressOf(local),
    remote: addressOf(remote),
    ...placeOf(channel),
    ...serverOf(channel),
    ...trafficOf(channel),
  };
}

export function sessionRecord(channel: EngineChannel): ResultRecord {
  const { local, remote, toServer } = channel;
  return {
    name: channelName(channel),
    client: addressOf(remote),
    called: addressOf(local),
    "from-local": addressOf(toServer?.local),
    "to-server": addressOf(toServer?.remote),
    ...placeOf(channel),
    ...serverOf(channel),
    ...trafficOf(channel),
  };
}

function addressOf(address: EngineChannel["remote"]): string {
  return address === undefined ? NOWHERE : formatSocketAddress(address);
}

function placeOf({ listener, loop, loopGroup }: EngineChannel): ResultRecord {
  return { listener: nameOfKey(listener), "event-loop": loop, "event-loop-group": loopGroup };
}

/** Of the key of an Endpoint: its name, and that of its group. */
function serverOf({ server }: EngineChannel): ResultRecord {
  const slash = server.lastIndexOf("/");
  if (slash < 0) return { server: "", "server-group": "" };
  return { server: server.slice(slash + 1), "server-group": nameOfKey(server.slice(0, slash)) };
}

function trafficOf({ bytesIn, bytesOut }: EngineChannel): ResultRecord {
  return { "bytes-in": bytesIn, "bytes-out": bytesOut };
}
