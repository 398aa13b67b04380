import * as z from "zod";
import { type HostPort, parseHostPort } from "./address.ts";
import { targetRulesSchema } from "./target-rules-schema.ts";

/** What a server of WebSocks does with targets. */
export const ACCESS_WORDS = ["allow", "deny"] as const;
/** How an agent reaches targets. */
export const WAY_WORDS = ["tunnel", "direct", "block"] as const;

export type AccessWord = (typeof ACCESS_WORDS)[number];
export type WayWord = (typeof WAY_WORDS)[number];

/** The server's end of WebSocks tunnels. */
export interface WebsocksServer {
  /** Who may come, with the password of `passwordFile`; empty: those of the listener's `usersFile`. */
  readonly user: string;
  /** A file, or `env:PORTOLAN_...`. */
  readonly passwordFile: string;
  /** Rules such as `deny 10.0.0.0/8`; the first that fits decides, and where none does all may be reached. */
  readonly targets: readonly string[];
  /** Folder of the pages that others are shown; empty: they are told that there is none. */
  readonly webRoot: string;
}

/** The client's end of WebSocks tunnels. */
export interface WebsocksAgent {
  /** `ws[s]://USER@HOST:PORT[/PATH]`, one for each endpoint of the service, which is named `HOST:PORT`. */
  readonly servers: readonly string[];
  /** A file, or `env:PORTOLAN_...`. */
  readonly passwordFile: string;
  /** PEM file of the authorities that certificates of servers must be from; empty: those of the system. */
  readonly caFile: string;
  /** Rules such as `direct *.local`; the first that fits decides, and where none does it is the tunnel. */
  readonly rules: readonly string[];
  /** How many connections to a server each loop keeps ready; 0: none. */
  readonly poolSize: number;
}

/** A server as an agent calls it. */
export interface WebsocksUrl extends HostPort {
  readonly isSecure: boolean;
  readonly user: string;
  /** Path and query. */
  readonly path: string;
}

const DEFAULT_POOL_SIZE = 4;
const MAX_POOL_SIZE = 256;
const MAX_SERVERS = 256;
const ENVIRONMENT = /^env:PORTOLAN_[A-Z0-9_]+$/;
const URL_FORM = /^(wss?):\/\/([^@/\s]+)@(\[[^\]]+\]|[^:/@[\]\s]+)(?::(\d{1,5}))?(\/[!-~]*)?$/;
const DEFAULT_PORTS = { ws: "80", wss: "443" } as const;

/** What would be right, for errors. */
export const WEBSOCKS_URL_FORM = "ws://USER@HOST:PORT or wss://USER@HOST:PORT, without a password";

/** Undefined where it is none. */
export function parseWebsocksUrl(text: string): WebsocksUrl | undefined {
  const [, scheme, user = "", host = "", port, path = "/"] = URL_FORM.exec(text) ?? [];
  if (scheme !== "ws" && scheme !== "wss") return undefined;
  const place = parseHostPort(`${host}:${port ?? DEFAULT_PORTS[scheme]}`);
  const name = decode(user);
  if (place === undefined || name === undefined || name.includes(":")) return undefined;
  return { ...place, isSecure: scheme === "wss", user: name, path };
}

/** What somebody took for a URL, for the screen: all that may be a password in it is left out. */
export function withoutPassword(text: string): string {
  return text.replace(/^((?:\w*:\/\/)?[^:]*):(?!\/\/).*@/s, "$1:...@");
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

const userSchema = z.string().refine((name) => !/[:\p{Cc}]/u.test(name), {
  message: "a name without colons and control characters",
});

const passwordFileSchema = z
  .string()
  .refine((text) => !text.startsWith("env:") || ENVIRONMENT.test(text), {
    message: "a file, or env: with the name of a variable that begins with PORTOLAN_",
  });

export const websocksServerSchema: z.ZodType<WebsocksServer> = z.strictObject({
  user: userSchema.default(""),
  passwordFile: passwordFileSchema.default(""),
  targets: targetRulesSchema(ACCESS_WORDS).default([]),
  webRoot: z.string().default(""),
});

export const websocksAgentSchema: z.ZodType<WebsocksAgent> = z.strictObject({
  servers: z
    .array(
      z.string().refine((text) => parseWebsocksUrl(text) !== undefined, {
        message: WEBSOCKS_URL_FORM,
      }),
    )
    .min(1)
    .max(MAX_SERVERS),
  passwordFile: passwordFileSchema,
  caFile: z.string().default(""),
  rules: targetRulesSchema(WAY_WORDS).default([]),
  poolSize: z.int().min(0).max(MAX_POOL_SIZE).default(DEFAULT_POOL_SIZE),
});
