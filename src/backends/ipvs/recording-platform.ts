import type { IpvsPlatform } from "./kernel/platform.ts";
import { LINK_NAME } from "./kernel/platform.ts";
import { renderAddressChange, renderIpvsChange, renderSetChange } from "./render-changes.ts";

/** Commands that would be given to a tool. */
interface Part {
  readonly tool: string;
  readonly lines: string[];
}

/** Writes down what would be changed, for the tools that do the same. */
export class Recorder {
  readonly #parts: Part[] = [];

  record(tool: string, lines: readonly string[]): void {
    if (lines.length === 0) return;
    const last = this.#parts.at(-1);
    if (last?.tool !== tool) this.#parts.push({ tool, lines: [...lines] });
    // One by one: they may be more than a call takes arguments.
    else for (const line of lines) last.lines.push(line);
  }

  text(): string {
    return this.#parts.map(({ tool, lines }) => `# ${tool}\n${lines.join("\n")}\n`).join("");
  }
}

/**
 * A platform whose changes are written down in place of being made.
 * @param real what is read; undefined: a kernel that holds nothing
 */
export function createRecordingPlatform(
  recorder: Recorder,
  real: IpvsPlatform | undefined,
): IpvsPlatform {
  return {
    ipvs: {
      servers: async () => (await real?.ipvs.servers()) ?? [],
      destinations: async (server) => (await real?.ipvs.destinations(server)) ?? [],
      timeouts: async () => (await real?.ipvs.timeouts()) ?? { tcp: 0, tcpFin: 0, udp: 0 },
      change: async (changes) => {
        recorder.record("ipvsadm -R", changes.map(renderIpvsChange));
        return [];
      },
      close: () => real?.ipvs.close(),
    },
    sets: {
      entries: async (name) => real?.sets.entries(name),
      change: async (changes) => {
        const missing = [];
        for (const change of changes) {
          const isThere =
            change.kind === "create" && (await real?.sets.entries(change.set.name)) !== undefined;
          if (!isThere) missing.push(renderSetChange(change));
        }
        recorder.record("ipset restore", missing);
        return [];
      },
      close: () => real?.sets.close(),
    },
    link: {
      ensure: async () => {
        if (await real?.link.exists()) return;
        recorder.record("ip -batch -", [
          `link add ${LINK_NAME} type dummy`,
          `link set ${LINK_NAME} up arp off`,
        ]);
      },
      exists: async () => (await real?.link.exists()) ?? false,
      addresses: async (family) => (await real?.link.addresses(family)) ?? { own: [], others: [] },
      change: async (changes) => {
        recorder.record("ip -batch -", changes.map(renderAddressChange));
        return [];
      },
      remove: async () => undefined,
      close: () => real?.link.close(),
    },
  };
}
