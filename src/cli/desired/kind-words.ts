import { CoreError } from "../../core/errors.ts";
import type { ListenerMode } from "../../core/model/listener.ts";
import { KINDS, type Kind, type ModelObject } from "../../core/model/object.ts";
import { nearest } from "../../core/model/problems.ts";

/** What a word for a kind means: the kind, and which of its objects. */
export interface KindWord {
  readonly kind: Kind;
  suits(object: ModelObject): boolean;
}

const ALL = (): boolean => true;

/** The words of commands, where they are not those of kinds. */
const RESOURCE_WORDS: ReadonlyMap<string, KindWord> = new Map([
  ["upstream", { kind: "Service", suits: (object) => "type" in object && object.type === "Plain" }],
  ["server-group", { kind: "Group", suits: ALL }],
  ["server", { kind: "Endpoint", suits: ALL }],
  ["tcp-lb", listeners("tcp", "http", "h2")],
  ["udp-lb", listeners("udp")],
  ["socks5-server", listeners("socks5")],
  ["dns-server", listeners("dns")],
  ["security-group", { kind: "SecurityGroup", suits: ALL }],
  ["cert-key", { kind: "Certificate", suits: ALL }],
]);

function listeners(...modes: readonly ListenerMode[]): KindWord {
  return {
    kind: "Listener",
    suits: (object) => object.kind === "Listener" && modes.includes(object.mode),
  };
}

/** For help and completion: kinds in lower case, then the words of commands. */
export const KIND_WORDS: readonly string[] = [
  ...KINDS.map((kind) => kind.toLowerCase()),
  ...RESOURCE_WORDS.keys(),
];

/**
 * `Service`, `services`, `tcp-lb`, `Upstreams`.
 * @throws CoreError ERR_USAGE
 */
export function parseKindWord(text: string): KindWord {
  const word = text.toLowerCase().replace(/s$/, "");
  const resource = RESOURCE_WORDS.get(word);
  if (resource !== undefined) return resource;
  const kind = KINDS.find((one) => one.toLowerCase() === word);
  if (kind !== undefined) return { kind, suits: ALL };
  const near = nearest(word, KIND_WORDS);
  const expected = near === undefined ? `one of ${KIND_WORDS.join(", ")}` : `"${near}"`;
  throw new CoreError("ERR_USAGE", `"${text}" is no kind; expected ${expected}`);
}

const DEFAULT_NAMESPACE = "default";

/**
 * The key that a name typed by people means: `default/` may be left out. An endpoint is named with its
 * group: `web/a`.
 * @throws CoreError ERR_USAGE
 */
export function parseKey(kind: Kind, text: string): string {
  const parts = text.split("/");
  const most = kind === "Node" ? 1 : kind === "Endpoint" ? 3 : 2;
  const least = kind === "Endpoint" ? 2 : 1;
  if (parts.includes("") || parts.length > most || parts.length < least) {
    throw new CoreError(
      "ERR_USAGE",
      `"${text}" is no name of a ${kind}; expected ${FORMS[kind] ?? "[NAMESPACE/]NAME"}`,
    );
  }
  return parts.length === most ? text : `${DEFAULT_NAMESPACE}/${text}`;
}

const FORMS: Readonly<Partial<Record<Kind, string>>> = {
  Node: "NAME",
  Endpoint: "[NAMESPACE/]GROUP/NAME",
};
