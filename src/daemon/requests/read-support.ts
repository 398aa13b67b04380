import { cpus, freemem, type as osType, release, totalmem } from "node:os";
import process from "node:process";
import { formatListenAddress, type ListenAddress } from "../../core/options/listen-address.ts";
import type { InstanceConfig } from "../config.ts";
import type { SupportResult } from "../instance-socket/command-protocol.ts";
import type { LiveParts } from "./live-parts.ts";
import type { LogLine, LogRing } from "./log-ring.ts";
import { readStatus, type StatusParts } from "./read-status.ts";

export interface SupportParts extends StatusParts {
  readonly config: InstanceConfig;
  readonly ring: LogRing;
}

/** What a bug report needs; secrets are in none of it, as they are in neither options nor logs. */
export async function readSupport(parts: SupportParts): Promise<SupportResult> {
  const files: readonly (readonly [string, string])[] = [
    ["versions.json", json({ portolan: parts.version, node: process.version, ...versions() })],
    ["config.json", json(configOf(parts.config))],
    ["status.json", json(await readStatus(parts))],
    ["state-summary.json", json(countsOf(parts.live))],
    ["metrics.txt", await parts.live.metricsText()],
    ["limits.json", json(limits())],
    ["log.jsonl", parts.ring.lines().map(logText).join("")],
  ];
  return { files: files.map(([name, text]) => ({ name, text })) };
}

function configOf({ node, sources, backends, servesApi, values }: InstanceConfig): object {
  return {
    node,
    sources: sources.map(({ owner }) => owner),
    backends: backends.map(({ name, options, reasons }) => ({ name, options, reasons })),
    servesApi,
    options: Object.fromEntries(
      Object.entries(values).map(([name, value]) => [
        name,
        isAddress(value) ? formatListenAddress(value) : value,
      ]),
    ),
  };
}

function isAddress(value: unknown): value is ListenAddress {
  return typeof value === "object" && value !== null && "kind" in value;
}

function countsOf({ store, control }: LiveParts): object {
  const state = store?.state();
  return {
    revision: state?.revision ?? 0,
    services: state?.services.size ?? 0,
    listeners: state?.listeners.size ?? 0,
    groups: state?.groups.size ?? 0,
    nodes: state?.nodes.size ?? 0,
    securityGroups: state?.securityGroups.size ?? 0,
    certificates: state?.certificates.size ?? 0,
    journalBytes: control?.journal.bytes ?? 0,
    conflicts: store?.conflicts() ?? [],
  };
}

function versions(): object {
  const { openssl, v8, uv } = process.versions;
  return { openssl, v8, uv, os: `${osType()} ${release()}`, arch: process.arch };
}

function limits(): object {
  return {
    cores: cpus().length,
    memoryBytes: totalmem(),
    freeMemoryBytes: freemem(),
    resourceUsage: process.resourceUsage(),
  };
}

function logText({ timeMs, level, message, fields }: LogLine): string {
  const time = new Date(timeMs).toISOString();
  return `${JSON.stringify({ time, level, message, ...plain(fields) })}\n`;
}

/** An error is no plain data: what it says and where. */
function plain(fields: object): object {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name,
      value instanceof Error ? (value.stack ?? value.message) : value,
    ]),
  );
}

function json(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}
