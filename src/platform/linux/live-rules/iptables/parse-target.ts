import { canonicalIp, parseHostPort } from "../../../../core/model/address.ts";
import type { AssignableField, Expression, Step } from "../ruleset.ts";

/** The options of a target, by their names; empty where an option takes no value. */
export type TargetOptions = ReadonlyMap<string, string>;

type TargetParser = (options: TargetOptions) => Step | undefined;

/** What only looks on, or changes what no rule here looks at. */
const ASIDE: ReadonlySet<string> = new Set([
  "DSCP",
  "LOG",
  "NFLOG",
  "TCPMSS",
  "TOS",
  "TRACE",
  "TTL",
]);

const TARGETS: Readonly<Record<string, TargetParser>> = {
  ACCEPT: () => ({ kind: "verdict", verdict: { kind: "accept" } }),
  DROP: () => ({ kind: "verdict", verdict: { kind: "drop" } }),
  RETURN: () => ({ kind: "verdict", verdict: { kind: "return" } }),
  REJECT: (options) => ({
    kind: "reject",
    protocol: options.get("--reject-with") === "tcp-reset" ? "tcp" : undefined,
  }),
  DNAT: (options) => destination(options.get("--to-destination") ?? ""),
  REDIRECT: (options) => ({
    kind: "translate-destination",
    address: undefined,
    port: port(options.get("--to-ports")),
  }),
  SNAT: (options) => {
    const ip = options.get("--to-source");
    return ip === undefined ? undefined : { kind: "translate-source", address: constant(ip) };
  },
  MASQUERADE: () => ({ kind: "translate-source", address: undefined }),
  MARK: (options) => {
    const value = options.get("--set-xmark") ?? options.get("--set-mark");
    return value === undefined
      ? undefined
      : { kind: "assign", field: "mark", value: marked("mark", value) };
  },
  CONNMARK: (options) => connectionMark(options),
  CT: (options) =>
    options.size === 1 && options.has("--notrack") ? { kind: "untrack" } : undefined,
  NOTRACK: () => ({ kind: "untrack" }),
};

/** Undefined where the target, or how it is used, is not known. */
export function parseTarget(name: string, options: TargetOptions): Step | undefined {
  return ASIDE.has(name) ? { kind: "aside" } : TARGETS[name]?.(options);
}

function constant(value: string | number): Expression {
  return { kind: "constant", value };
}

function port(text: string | undefined): Expression | undefined {
  return text === undefined ? undefined : constant(Number(text));
}

/** `10.1.0.5:80`, `[fd00::5]:80`, or an address alone. */
function destination(text: string): Step | undefined {
  const both = parseHostPort(text);
  const ip = canonicalIp(both?.host ?? text.replace(/^\[(.*)\]$/, "$1"));
  if (ip === undefined) return undefined;
  return {
    kind: "translate-destination",
    address: constant(ip),
    port: both && constant(both.port),
  };
}

const ALL_BITS = 0xffff_ffff;

/** `VALUE/MASK`: clears the bits of the mask, then turns those of the value round. */
function marked(field: AssignableField, text: string): Expression {
  const [value = 0, mask = ALL_BITS] = text.split("/").map(Number);
  const kept = masked({ field, mask: ~mask >>> 0 });
  return { kind: "bits", operator: "^", left: kept, right: constant(value) };
}

function connectionMark(options: TargetOptions): Step | undefined {
  const value = options.get("--set-xmark") ?? options.get("--set-mark");
  if (value !== undefined) {
    const field = "connectionMark";
    return { kind: "assign", field, value: marked(field, value) };
  }
  const packet = { field: "mark", mask: Number(options.get("--nfmask") ?? ALL_BITS) } as const;
  const connection = {
    field: "connectionMark",
    mask: Number(options.get("--ctmask") ?? ALL_BITS),
  } as const;
  if (options.has("--restore-mark")) return copyMark(connection, packet);
  return options.has("--save-mark") ? copyMark(packet, connection) : undefined;
}

interface MaskedMark {
  readonly field: AssignableField;
  readonly mask: number;
}

function copyMark(from: MaskedMark, to: MaskedMark): Step {
  const left = masked({ field: to.field, mask: ~to.mask >>> 0 });
  return {
    kind: "assign",
    field: to.field,
    value: { kind: "bits", operator: "^", left, right: masked(from) },
  };
}

function masked({ field, mask }: MaskedMark): Expression {
  return { kind: "bits", operator: "&", left: { kind: "field", field }, right: constant(mask) };
}
