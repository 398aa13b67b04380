import { canonicalIp, parseHostPort } from "../../../../core/model/address.ts";
import type { Expression, Step } from "../ruleset.ts";

/** The options of a target, by their names; empty where an option takes no value. */
export type TargetOptions = ReadonlyMap<string, string>;

type TargetParser = (options: TargetOptions) => Step | undefined;

/** What only looks on. */
const ASIDE: ReadonlySet<string> = new Set(["LOG", "NFLOG", "TRACE"]);

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
      : { kind: "assign", field: "mark", value: marked(value) };
  },
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
function marked(text: string): Expression {
  const [value = 0, mask = ALL_BITS] = text.split("/").map(Number);
  const kept: Expression = {
    kind: "bits",
    operator: "&",
    left: { kind: "field", field: "mark" },
    right: constant(~mask >>> 0),
  };
  return { kind: "bits", operator: "^", left: kept, right: constant(value) };
}
