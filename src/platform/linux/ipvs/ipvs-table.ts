import { CoreError } from "../../../core/errors.ts";
import {
  NETLINK_GENERIC,
  parseFamilyId,
  writeGetFamily,
} from "../../../wire/netlink/generic/generic-codec.ts";
import {
  parseDestination,
  parseServer,
  parseTimeouts,
} from "../../../wire/netlink/ipvs/decode-ipvs.ts";
import {
  type IpvsChange,
  writeDestinationDump,
  writeGetTimeouts,
  writeIpvsChange,
  writeServerDump,
} from "../../../wire/netlink/ipvs/encode-ipvs.ts";
import { AF_INET, AF_INET6, IPVS_FAMILY_NAME } from "../../../wire/netlink/ipvs/ipvs-words.ts";
import {
  type DestinationState,
  destinationId,
  type IpvsTimeouts,
  serverId,
  type VirtualServer,
  type VirtualServerState,
} from "../../../wire/netlink/ipvs/virtual-server.ts";
import { ERRNO } from "../../errno.ts";
import { exchangeBatches, type RefusedChange, refuseOverrun } from "../netlink/exchange-batches.ts";
import { type NetlinkRequest, NetlinkSocket, requestError } from "../netlink/netlink-socket.ts";

/** A dump that changed while it was read is asked for again, so often. */
const DUMP_TRIES = 5;

/** The virtual servers of a network namespace. */
export interface IpvsTable {
  servers(): Promise<readonly VirtualServerState[]>;
  /** Empty where there is no such virtual server. */
  destinations(
    server: Pick<VirtualServer, "family" | "place">,
  ): Promise<readonly DestinationState[]>;
  timeouts(): Promise<IpvsTimeouts>;
  /** What is refused is told; all else is done. */
  change(changes: readonly IpvsChange[]): Promise<readonly RefusedChange[]>;
  close(): void;
}

/**
 * Of the network namespace that this thread is in. The kernel loads its module where it is not yet.
 * @throws CoreError ERR_NOT_POSSIBLE_HERE where the kernel has no IPVS
 */
export async function openIpvsTable(): Promise<IpvsTable> {
  const socket = new NetlinkSocket(NETLINK_GENERIC);
  try {
    return tableOn(socket, await familyIdOn(socket));
  } catch (error) {
    socket.close();
    throw error;
  }
}

function tableOn(socket: NetlinkSocket, familyId: number): IpvsTable {
  const ask = (request: NetlinkRequest, what: string) => dump(socket, request, what);
  return {
    servers: async () => {
      let servers: VirtualServerState[] = [];
      await ask(
        {
          count: 1,
          write: (writer, sequence) => {
            servers = [];
            writeServerDump(writer, familyId, sequence);
          },
          onMessage: (view, from, to) => {
            const server = parseServer(view, from, to);
            if (server !== undefined) servers.push(server);
          },
        },
        "listing virtual servers",
      );
      return servers;
    },
    destinations: async (server) => {
      let destinations: DestinationState[] = [];
      const af = server.family === "v4" ? AF_INET : AF_INET6;
      await ask(
        {
          count: 1,
          write: (writer, sequence) => {
            destinations = [];
            writeDestinationDump(writer, familyId, sequence, server);
          },
          onMessage: (view, from, to) => {
            const destination = parseDestination(view, from, to, af);
            if (destination !== undefined) destinations.push(destination);
          },
        },
        `listing the servers of ${serverId(server)}`,
      );
      return destinations;
    },
    timeouts: async () => {
      let timeouts: IpvsTimeouts = { tcp: 0, tcpFin: 0, udp: 0 };
      await ask(
        {
          count: 1,
          write: (writer, sequence) => writeGetTimeouts(writer, familyId, sequence),
          onMessage: (view, from, to) => {
            timeouts = parseTimeouts(view, from, to);
          },
        },
        "reading the time-outs of IPVS",
      );
      return timeouts;
    },
    change: async (items) => {
      const refused = await exchangeBatches(socket, {
        items,
        write: (writer, sequence, item, isLast) =>
          writeIpvsChange(writer, { familyId, sequence, isLast }, item),
        wordsFor: describeIpvsChange,
      });
      return refused.map((one) => nameScheduler(one, items[one.index]));
    },
    close: () => socket.close(),
  };
}

async function dump(socket: NetlinkSocket, request: NetlinkRequest, what: string): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    const answer = await socket.exchange(request);
    refuseOverrun(answer);
    const [failure] = answer.failures;
    // Its virtual server is gone.
    if (failure?.errno === ERRNO.ESRCH) return;
    if (failure !== undefined) throw requestError(what, failure);
    if (!answer.isInterrupted || tries === DUMP_TRIES) return;
  }
}

async function familyIdOn(socket: NetlinkSocket): Promise<number> {
  let id: number | undefined;
  const { failures } = await socket.exchange({
    count: 1,
    write: (writer, sequence) => writeGetFamily(writer, sequence, IPVS_FAMILY_NAME),
    onMessage: (view, from, to) => {
      id ??= parseFamilyId(view, from, to);
    },
  });
  if (id !== undefined) return id;
  const [failure] = failures;
  const why = failure === undefined ? "" : `: ${requestError("asking for it", failure).message}`;
  throw new CoreError("ERR_NOT_POSSIBLE_HERE", `this kernel has no IPVS${why}`);
}

/** Of a virtual server, only its scheduler may be unknown: no module of the kernel has it. */
export function nameScheduler(
  refused: RefusedChange,
  change: IpvsChange | undefined,
): RefusedChange {
  const isServer = change?.kind === "newService" || change?.kind === "setService";
  if (!isServer || refused.errno !== ERRNO.ENOENT) return refused;
  const { scheduler } = change.server;
  const remedy = `modprobe ip_vs_${scheduler}, or install the package with the rest of this kernel's modules, or choose another scheduler`;
  const error = new CoreError(
    refused.error.code,
    `${refused.error.message}: this kernel has no scheduler ${scheduler} (module ip_vs_${scheduler}); ${remedy}`,
    { cause: refused.error },
  );
  return { ...refused, error };
}

/** As a person would ask for it. */
function describeIpvsChange(change: IpvsChange): string {
  if (change.kind === "setConfig") return "setting the time-outs of IPVS";
  const verb = change.kind.startsWith("new")
    ? "adding"
    : change.kind.startsWith("set")
      ? "changing"
      : "removing";
  const server = `virtual server ${serverId(change.server)}`;
  if (!("destination" in change)) return `${verb} ${server}`;
  return `${verb} ${destinationId(change.destination)} of ${server}`;
}
