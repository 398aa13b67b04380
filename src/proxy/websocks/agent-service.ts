import { formatHostPort } from "../../core/model/address.ts";
import { judgeTarget, type TargetRule } from "../../core/model/target-rules.ts";
import type { WayWord } from "../../core/model/websocks.ts";
import type { StreamFd } from "../../net/fd.ts";
import { ERRNO } from "../../platform/errno.ts";
import { ipAddress } from "../../platform/socket-address.ts";
import type { Socks5Address } from "../../wire/socks5/socks5-words.ts";
import type { ServerTalk } from "../health/server-talk.ts";
import type { Introduction, Opening } from "../openings/opening.ts";
import type { DialHandler, Dialing } from "../relay/dial.ts";
import { type DialTargets, ListTargets, PlainTarget } from "../relay/dial-targets.ts";
import type { SessionHost } from "../relay/session-host.ts";
import { type ServiceParts, TcpService } from "../services/tcp-service.ts";
import { answerConnected, answerFailed } from "./agent-answers.ts";
import { AgentOpening } from "./agent-opening.ts";
import { renderPac } from "./render-pac.ts";
import { TunnelDial } from "./tunnel-dial.ts";
import type { Tunnels } from "./tunnels.ts";

/** The servers of tunnels, in the order in which they are tried. */
class ServerTargets implements DialTargets {
  readonly noneResult: number = -ERRNO.ENETUNREACH;
  readonly next: DialTargets["next"];

  constructor(targets: DialTargets) {
    this.next = () => targets.next();
  }
}

/**
 * The client's end of WebSocks tunnels: programs speak SOCKS5 or HTTP to it, and what they want to reach is
 * reached through one of the servers, or directly where the rules say so.
 */
export class AgentService extends TcpService {
  readonly #host: SessionHost;
  readonly #tunnels: Tunnels;
  readonly #rules: readonly TargetRule<WayWord>[];
  /** For names, which are not looked up here: whoever asks for one shall not be known by it. */
  readonly #nameRules: readonly TargetRule<WayWord>[];

  constructor(host: SessionHost, parts: ServiceParts, tunnels: Tunnels) {
    super(parts);
    this.#host = host;
    this.#tunnels = tunnels;
    this.#rules = tunnels.options.config.rules;
    this.#nameRules = this.#rules.filter(({ pattern }) => pattern.what.kind !== "network");
  }

  override openingsFor(client: StreamFd): Opening[] {
    return [...this.peerOpenings(client), new AgentOpening(() => this.#renderPac(client))];
  }

  override findTargets(
    client: StreamFd,
    introduction: Introduction,
    found: (targets: DialTargets) => void,
  ): void {
    const { wanted, command } = introduction;
    if (wanted === undefined || command !== "connect") {
      found(new ListTargets([], -ERRNO.EOPNOTSUPP));
      return;
    }
    switch (this.#wayTo(wanted)) {
      case "block":
        found(new ListTargets([], -ERRNO.EACCES));
        return;
      case "direct":
        this.#findDirectly(wanted, found);
        return;
      default:
        super.findTargets(client, introduction, (targets) => found(new ServerTargets(targets)));
    }
  }

  dial(targets: DialTargets, { wanted }: Introduction, handler: DialHandler): Dialing | undefined {
    if (!(targets instanceof ServerTargets) || wanted === undefined) return undefined;
    return new TunnelDial(this.#tunnels, targets, wanted, handler);
  }

  talkTo(group: string, server: string): ServerTalk | undefined {
    if (this.upstream?.hasGroup(group) !== true) return undefined;
    const called = this.#tunnels.serverOf({ key: server });
    return called && { secure: (fd) => called.secure(fd), talk: called.upgrade() };
  }

  override greetServer(): Buffer {
    return Buffer.alloc(0);
  }

  override answerConnected(server: StreamFd, { asked = "socks5" }: Introduction): Buffer {
    return answerConnected(asked, server.localAddress());
  }

  override answerFailed(result: number, { asked = "socks5" }: Introduction): Buffer {
    return answerFailed(asked, result);
  }

  close(): void {
    this.#tunnels.close();
  }

  #wayTo({ host, isName, port }: Socks5Address): WayWord {
    if (isName)
      return judgeTarget(this.#nameRules, { name: host, ip: "", port }, "tunnel") ?? "tunnel";
    return judgeTarget(this.#rules, { name: "", ip: host, port }, "tunnel") ?? "tunnel";
  }

  #findDirectly(
    { host, isName, port }: Socks5Address,
    found: (targets: DialTargets) => void,
  ): void {
    const take = (addresses: readonly string[]): void =>
      found(new ListTargets(addresses.map((ip) => new PlainTarget(ipAddress(ip, port)))));
    if (isName) this.#host.resolve(host, take);
    else take([host]);
  }

  #renderPac(client: StreamFd): string {
    const local = client.localAddress();
    const proxy = local.family === "unix" ? "127.0.0.1" : formatHostPort(local.ip, local.port);
    return renderPac(proxy, this.#rules);
  }
}
