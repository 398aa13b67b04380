import type { StreamFd } from "../../net/fd.ts";
import { ERRNO, errnoName } from "../../platform/errno.ts";
import { ipAddress } from "../../platform/socket-address.ts";
import type { Socks5HandshakeOptions } from "../../wire/socks5/socks5-handshake.ts";
import { renderSocks5Reply, socks5ReplyFor } from "../../wire/socks5/socks5-reply.ts";
import type { Socks5Address } from "../../wire/socks5/socks5-words.ts";
import type { UpstreamRuntime } from "../loop/upstream-runtime.ts";
import type { Introduction, Opening } from "../openings/opening.ts";
import { Socks5Opening } from "../openings/socks5-opening.ts";
import { type DialTargets, ListTargets, PlainTarget } from "../relay/dial-targets.ts";
import type { RelayEnd } from "../relay/relay-end.ts";
import type { SessionHost } from "../relay/session-host.ts";
import { type FlowBudget, Socks5Association } from "./socks5-association.ts";
import { Socks5Users } from "./socks5-users.ts";
import { clientIp, type ServiceParts, TcpService } from "./tcp-service.ts";

/** Told with SOCKS5's own words for it; no system call gives them here. */
const NOT_ALLOWED = -ERRNO.EACCES;
const NOT_SUPPORTED = -ERRNO.EOPNOTSUPP;

/**
 * SOCKS5: clients say where they want to go. A name leads to the group that has it as its hint, an
 * address to the server that has it; anything else is reached directly where others are allowed.
 */
export class Socks5Service extends TcpService {
  readonly #host: SessionHost;
  readonly #fallsBack: boolean;
  readonly #allowOthers: boolean;
  readonly #handshake: Socks5HandshakeOptions;
  readonly #budget: FlowBudget;

  constructor(host: SessionHost, parts: ServiceParts, budget: FlowBudget) {
    super(parts);
    const { fallsBack, allowOthers, users } = parts.config;
    this.#host = host;
    this.#fallsBack = fallsBack;
    this.#allowOthers = allowOthers;
    this.#budget = budget;
    const known = users.length === 0 ? undefined : new Socks5Users(users);
    this.#handshake =
      known === undefined
        ? {}
        : { authenticate: (name, password) => known.areRight(name, password) };
  }

  override openingsFor(client: StreamFd): Opening[] {
    return [...this.peerOpenings(client), new Socks5Opening(this.#handshake)];
  }

  takeOver(client: RelayEnd, introduction: Introduction): boolean {
    const at = client.fd.localAddress();
    // A connection by a path has no address that datagrams could be sent to.
    if (introduction.command !== "udp-associate" || at.family === "unix") return false;
    const association = new Socks5Association(this.#host, at, {
      client,
      clientIp: clientIp(client.fd, introduction),
      row: this.row,
      listener: this.key,
      idleTimeoutMs: this.idleTimeoutMs,
      findTargets: (wanted, found) => this.#find(client.fd, { ...introduction, wanted }, found),
      budget: this.#budget,
    });
    association.start();
    return true;
  }

  override findTargets(
    client: StreamFd,
    introduction: Introduction,
    found: (targets: DialTargets) => void,
  ): void {
    if (introduction.command === "connect") this.#find(client, introduction, found);
    else found(new ListTargets([], NOT_SUPPORTED));
  }

  #find(client: StreamFd, introduction: Introduction, found: (targets: DialTargets) => void): void {
    const { wanted } = introduction;
    if (wanted === undefined) {
      found(new ListTargets([]));
      return;
    }
    const { upstream } = this;
    const own = upstream && this.#ownTargets(upstream, client, introduction, wanted);
    if (own !== undefined) found(own);
    else if (!this.#allowOthers) found(new ListTargets([], NOT_ALLOWED));
    else if (wanted.isName) {
      this.#host.resolve(wanted.host, (addresses) => found(addressTargets(addresses, wanted.port)));
    } else found(addressTargets([wanted.host], wanted.port));
  }

  override answerConnected(server: StreamFd): Buffer {
    const local = server.localAddress();
    if (local.family === "unix") return renderSocks5Reply("succeeded");
    return renderSocks5Reply("succeeded", local.ip, local.port);
  }

  override answerFailed(result: number): Buffer {
    if (result === NOT_ALLOWED) return renderSocks5Reply("not-allowed");
    if (result === NOT_SUPPORTED) return renderSocks5Reply("command-not-supported");
    return renderSocks5Reply(socks5ReplyFor(errnoName(result)));
  }

  #ownTargets(
    upstream: UpstreamRuntime,
    client: StreamFd,
    introduction: Introduction,
    { host, isName, port }: Socks5Address,
  ): DialTargets | undefined {
    if (isName) {
      const from = this.clientFor(upstream, client, introduction);
      return upstream.seek({ hint: { host, port }, client: from, fallsBack: this.#fallsBack });
    }
    const target = upstream.find(host, port);
    return target && new ListTargets([target]);
  }
}

function addressTargets(addresses: readonly string[], port: number): DialTargets {
  return new ListTargets(addresses.map((ip) => new PlainTarget(ipAddress(ip, port))));
}
