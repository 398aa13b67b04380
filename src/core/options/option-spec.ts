import type { ListenAddress } from "./listen-address.ts";

export interface SpecBase {
  /** One sentence without a full stop, for help and docs. */
  readonly help: string;
  /** One letter: `f` is `-f`. */
  readonly short?: string;
  /** What stands for the value in help: `FILE`. */
  readonly placeholder?: string;
  /** Beginnings or values that a shell may offer. */
  readonly suggestions?: readonly string[];
  /** Never on the command line, in logs or in docs with its value. */
  readonly secret?: boolean;
}

/**
 * One option. The same record gives the flag, the variable of the environment, the key of the config
 * file, the help and the docs. An option without a default may be absent.
 */
export type OptionSpec =
  | (SpecBase & { readonly kind: "string"; readonly default?: string })
  | (SpecBase & {
      /** A whole number. */
      readonly kind: "number";
      readonly default?: number;
      readonly min: number;
      readonly max: number;
    })
  | (SpecBase & { readonly kind: "boolean" })
  /** A flag that may be repeated; spaces separate in the environment. */
  | (SpecBase & { readonly kind: "list" })
  /** Milliseconds, written with a unit: `250ms`, `5s`, `2m`, `1h`. */
  | (SpecBase & { readonly kind: "duration"; readonly default?: string })
  | (SpecBase & {
      readonly kind: "enum";
      readonly values: readonly string[];
      /** Short words for some of the values. */
      readonly aliases?: Readonly<Record<string, string>>;
      readonly default?: string;
    })
  /** `HOST:PORT`, `PORT` (on loopback) or `unix:PATH`; `off` where it may be. */
  | (SpecBase & {
      readonly kind: "address";
      readonly default?: string;
      readonly canBeOff?: boolean;
    });

/** Options by their name in code: `metricsListen` is `--metrics-listen`. */
export type OptionSpecs = Readonly<Record<string, OptionSpec>>;

export type Parsed<S extends OptionSpec> = S extends { readonly kind: "boolean" }
  ? boolean
  : S extends { readonly kind: "list" }
    ? readonly string[]
    : S extends { readonly kind: "number" | "duration" }
      ? number
      : S extends { readonly kind: "address" }
        ? ListenAddress | (S extends { readonly canBeOff: true } ? "off" : never)
        : S extends { readonly kind: "enum"; readonly values: readonly (infer V)[] }
          ? V
          : string;

export type AlwaysThere = { readonly default: unknown } | { readonly kind: "boolean" | "list" };

/** What an option is once it is read; undefined only where it has no default. */
export type ValueOf<S extends OptionSpec> = S extends AlwaysThere
  ? Parsed<S>
  : Parsed<S> | undefined;

export type ValuesOf<S extends OptionSpecs> = { readonly [K in keyof S]: ValueOf<S[K]> };

/** `metricsListen` -> `metrics-listen`: the flag without its dashes, and the key of the config file. */
export function flagName(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** `metricsListen` -> `PORTOLAN_METRICS_LISTEN`. */
export function environmentName(name: string): string {
  return `PORTOLAN_${flagName(name).replaceAll("-", "_").toUpperCase()}`;
}
