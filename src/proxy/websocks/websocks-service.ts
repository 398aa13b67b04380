import { judgeTarget, type TargetRule } from "../../core/model/target-rules.ts";
import type { AccessWord } from "../../core/model/websocks.ts";
import type { StreamFd } from "../../net/fd.ts";
import { ERRNO } from "../../platform/errno.ts";
import type { BasicCredentials } from "../../wire/websocks/basic-credentials.ts";
import type { Introduction, Opening } from "../openings/opening.ts";
import { Socks5Opening } from "../openings/socks5-opening.ts";
import { type DialTargets, ListTargets } from "../relay/dial-targets.ts";
import type { SessionHost } from "../relay/session-host.ts";
import { FlowBudget } from "../services/socks5-association.ts";
import { Socks5Service } from "../services/socks5-service.ts";
import { clientIp, type ServiceParts } from "../services/tcp-service.ts";
import { AllowedTargets } from "./allowed-targets.ts";
import { FrameOpening } from "./frame-opening.ts";
import { Site } from "./site.ts";
import { UpgradeOpening } from "./upgrade-opening.ts";
import { WebsocksUsers } from "./websocks-users.ts";

/** Of so many wrong passwords one is told. */
const TOLD_EVERY_MS = 10_000;
const NO_FLOWS = new FlowBudget(0);

/**
 * The server's end of WebSocks tunnels: after the upgrade and the frame it is SOCKS5, and bytes pass as
 * they do there. Who has no password sees a site.
 */
export class WebsocksService extends Socks5Service {
  readonly #host: SessionHost;
  readonly #users: WebsocksUsers;
  readonly #site: Site;
  readonly #rules: readonly TargetRule<AccessWord>[];
  readonly #nowMs: () => number;
  #wrong = 0;
  #toldMs = Number.NEGATIVE_INFINITY;

  /** @param nowMs the time of day: passwords go by it */
  constructor(host: SessionHost, parts: ServiceParts, nowMs: () => number) {
    const { config } = parts;
    super(host, { ...parts, config: { ...config, users: [], allowOthers: true } }, NO_FLOWS);
    this.#host = host;
    this.#nowMs = nowMs;
    this.#users = new WebsocksUsers(config.users);
    this.#site = new Site(config.websocks?.site ?? new Map());
    this.#rules = config.websocks?.targets ?? [];
  }

  override openingsFor(client: StreamFd): Opening[] {
    const admits = (credentials: BasicCredentials | undefined): string | undefined =>
      this.#admit(credentials, client);
    return [
      ...this.peerOpenings(client),
      new UpgradeOpening({ admits, site: this.#site }),
      new FrameOpening(this.idleTimeoutMs),
      new Socks5Opening(),
    ];
  }

  /** A connection may be kept ready for long: who is no user any more gets no tunnel by it. */
  override allows(client: StreamFd, introduction: Introduction): boolean {
    const { pass } = introduction;
    const isUser = pass === undefined || this.#users.isGood(pass);
    return isUser && super.allows(client, introduction);
  }

  /** Datagrams do not go through a tunnel. */
  override takeOver(): boolean {
    return false;
  }

  override findTargets(
    client: StreamFd,
    introduction: Introduction,
    found: (targets: DialTargets) => void,
  ): void {
    const { wanted } = introduction;
    if (wanted === undefined || this.#rules.length === 0) {
      super.findTargets(client, introduction, found);
      return;
    }
    const { host, isName, port } = wanted;
    const known = { name: isName ? host : "", ip: isName ? "" : host, port };
    if (judgeTarget(this.#rules, known, "allow") === "deny") {
      found(new ListTargets([], -ERRNO.EACCES));
      return;
    }
    super.findTargets(client, introduction, (targets) =>
      found(new AllowedTargets(targets, this.#rules, wanted)),
    );
  }

  #admit(credentials: BasicCredentials | undefined, client: StreamFd): string | undefined {
    const { user, token } = credentials ?? { user: "", token: "" };
    const pass = this.#users.admit(user, token, this.#nowMs());
    if (pass === undefined) this.#noteWrong(client);
    return pass;
  }

  /** Not what was given: a password may be among it, meant for somewhere else. */
  #noteWrong(client: StreamFd): void {
    this.#wrong += 1;
    const { log, net } = this.#host;
    if (net.loop.nowMs - this.#toldMs < TOLD_EVERY_MS) return;
    this.#toldMs = net.loop.nowMs;
    const fields = { listener: this.key, client: clientIp(client, {}), times: this.#wrong };
    log.warn(fields, "somebody without the right password wanted a tunnel");
    this.#wrong = 0;
  }
}
