import { setImmediate } from "node:timers/promises";
import type { Log } from "../../../core/log.ts";
import type { EdgeNames } from "../../../edge/names/edge-names.ts";
import type { NameFinder } from "../../../edge/names/name-finder.ts";
import type { Fd } from "../../../net/fd.ts";
import { listenError } from "../../../net/listeners/listen-error.ts";
import { NetEventLoop } from "../../../net/net-event-loop.ts";
import { NodeProvider } from "../../../net/node/node-provider.ts";
import { ERRNO } from "../../../platform/errno.ts";
import { findSocketHolder } from "../../../platform/linux/socket-holder.ts";
import { type IpSocketAddress, ipAddress } from "../../../platform/socket-address.ts";
import { DnsCache } from "../../../proxy/dns/dns-cache.ts";
import { DnsClients } from "../../../proxy/dns/dns-clients.ts";
import { DnsForwarder } from "../../../proxy/dns/dns-forwarder.ts";
import { DnsResponder } from "../../../proxy/dns/dns-responder.ts";
import type { OpenSession, SessionHost } from "../../../proxy/relay/session-host.ts";
import type { CounterRow } from "../../../proxy/stats/counter-row.ts";
import { readDnsQuery } from "../../../wire/dns/dns-query.ts";

export interface DnsServerParts {
  readonly names: EdgeNames;
  /** Looks for services that are not known here. */
  readonly finder: NameFinder;
  /** Who is asked for other names, at this moment. */
  readonly resolvers: () => readonly IpSocketAddress[];
  readonly allows: (client: string) => boolean;
  readonly row: CounterRow;
  readonly log: Log;
}

const DNS_PORT = 53;
const BACKLOG = 128;
const MAX_CACHE_ENTRIES = 1024;
const PATIENCE_MS = 10_000;
const LISTENER = "edge names";

/** Answers the workloads of a node over UDP and TCP: names of services, and others as resolvers do. */
export class DnsServer {
  readonly #net: NetEventLoop;
  readonly #sessions = new Set<OpenSession>();
  readonly #clients: DnsClients;
  readonly #opened: { close(): void }[] = [];

  /** @throws CoreError ERR_LISTEN; then nothing is left open */
  static async open(ips: readonly string[], parts: DnsServerParts): Promise<DnsServer> {
    const server = new DnsServer(parts);
    try {
      for (const ip of ips) await server.#listen(ipAddress(ip, DNS_PORT));
      return server;
    } catch (error) {
      server.close();
      throw error;
    }
  }

  private constructor({ names, finder, resolvers, allows, row, log }: DnsServerParts) {
    this.#net = new NetEventLoop({
      provider: new NodeProvider(),
      onError: (error) => log.error({ err: error }, "a question for a name could not be answered"),
    });
    const host: SessionHost = {
      net: this.#net,
      log,
      sessions: this.#sessions,
      isDraining: false,
      // Resolvers are addresses.
      resolve: (_, callback) => this.#net.loop.nextTick(() => callback([])),
    };
    const responder = new DnsResponder({
      config: {
        allowOthers: true,
        dns: {
          get forwardTo() {
            return resolvers();
          },
        },
      },
      row,
      names,
      forwarder: new DnsForwarder(host, new DnsCache(MAX_CACHE_ENTRIES)),
      nowMs: () => this.#net.loop.nowMs,
    });
    const asked = answerOnceFound(responder, finder);
    this.#clients = new DnsClients(host, {
      describe: () => ({ listener: LISTENER, bytesIn: 0, bytesOut: 0 }),
      responder: () => asked,
      allows,
      patienceMs: () => PATIENCE_MS,
      onCrowded: () => row.failed(),
    });
    this.#net.loop.start();
  }

  close(): void {
    this.#clients.close();
    for (const one of this.#opened) one.close();
    for (const session of [...this.#sessions]) session.abort();
    this.#net.loop.close();
  }

  async #listen(on: IpSocketAddress): Promise<void> {
    const { provider } = this.#net;
    const datagrams = provider.bindDatagram(on);
    this.#opened.push(datagrams);
    await opened(datagrams, on, "UDP");
    this.#clients.addFront(datagrams);
    const server = provider.listen(on, { backlog: BACKLOG });
    this.#opened.push(server);
    await opened(server, on, "TCP");
    const accepts = { onConnection: this.#clients.accept.bind(this.#clients) };
    this.#opened.push(this.#net.accept(server, accepts));
  }
}

/** A question for a name that is not known here waits while that is looked for. */
function answerOnceFound(
  responder: DnsResponder,
  finder: NameFinder,
): Pick<DnsResponder, "answer"> {
  return {
    answer: (asking, onAnswer) => {
      const outcome = readDnsQuery(asking.bytes);
      const finding =
        outcome.kind === "query" ? finder.find(outcome.query.question.name) : undefined;
      const answer = (): void => responder.answer(asking, onAnswer);
      if (finding === undefined) answer();
      else void finding.then(answer);
    },
  };
}

async function opened(fd: Fd, on: IpSocketAddress, protocol: "TCP" | "UDP"): Promise<void> {
  while (fd.finishOpen() === -ERRNO.EINPROGRESS) await setImmediate();
  const result = fd.finishOpen();
  if (result !== 0) {
    throw listenError(on, result, { protocol, holder: findSocketHolder(on, protocol) });
  }
}
