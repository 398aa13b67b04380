import { serverKey } from "../balance/server.ts";
import type { Health } from "../health/health-state.ts";
import type { ServerId } from "../loop/engine-messages.ts";

export interface MemberHealth {
  readonly health: Health;
  /** Why it is not up; empty while it is. */
  readonly reason: string;
}

/** A server that has gone up or down; it is up where one of its addresses is. */
export interface HealthChange extends MemberHealth {
  readonly group: string;
  /** `ServerConfig.key`. */
  readonly server: string;
}

export type OnHealth = (change: HealthChange) => void;

const STARTING: MemberHealth = { health: "starting", reason: "not checked yet" };
/** Of servers that nobody checks. */
export const UNCHECKED: MemberHealth = Object.freeze({ health: "up", reason: "" });

/** What is known about the health of all servers, by their addresses. */
export class HealthBoard {
  readonly #members = new Map<string, Map<string, MemberHealth>>();

  /** Whether that is news. */
  note(id: ServerId, health: "up" | "down", reason: string): boolean {
    const member = memberKey(id.group, id.member);
    const addresses = this.#members.get(member) ?? new Map<string, MemberHealth>();
    this.#members.set(member, addresses);
    const key = serverKey(id.address, id.port);
    const isNews = addresses.get(key)?.health !== health;
    addresses.set(key, { health, reason });
    return isNews;
  }

  /** Whether something is known of it. */
  isSettled(group: string, member: string): boolean {
    return this.of(group, member).health !== "starting";
  }

  /** Keys of the addresses that are up. */
  upOf(group: string, member: string): readonly string[] {
    const addresses = this.#members.get(memberKey(group, member)) ?? new Map();
    return [...addresses].filter(([, { health }]) => health === "up").map(([key]) => key);
  }

  /** Up where one address is. */
  of(group: string, member: string): MemberHealth {
    const addresses = [...(this.#members.get(memberKey(group, member))?.values() ?? [])];
    return addresses.find(({ health }) => health === "up") ?? addresses[0] ?? STARTING;
  }

  forget(group: string, member: string): void {
    this.#members.delete(memberKey(group, member));
  }

  forgetGroup(group: string): void {
    const prefix = groupPrefix(group);
    for (const key of [...this.#members.keys()]) {
      if (key.startsWith(prefix)) this.#members.delete(key);
    }
  }
}

function groupPrefix(group: string): string {
  return `${group}\n`;
}

function memberKey(group: string, member: string): string {
  return `${groupPrefix(group)}${member}`;
}
