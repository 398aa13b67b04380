import type { RespReply, RespVersion, TextReply } from "../../wire/resp/encode-reply.ts";
import type { AuthOutcome } from "./auth-gate.ts";
import { bulk, OK, refusal } from "./render-reply.ts";

/** One client, as the commands that concern its connection see it. */
export interface RespSession {
  readonly id: number;
  version: RespVersion;
  /** Whether it has given the password, or there is none. */
  isTrusted: boolean;
  name: string;
  /** No more is read from it once this is answered. */
  isOver: boolean;
  /** Undefined where there is no password. */
  readonly authenticate: ((password: string) => Promise<AuthOutcome>) | undefined;
  /** Of the program. */
  readonly programVersion: () => Promise<string>;
}

type Handler = (args: readonly string[], session: RespSession) => RespReply | Promise<RespReply>;

/** The only user that there is. */
const USER = "default";
const MAX_NAME_LENGTH = 64;
const EMPTY: TextReply = { kind: "array", items: [] };
const PONG: RespReply = { kind: "simple", text: "PONG" };
const NO_AUTH: RespReply = {
  kind: "error",
  word: "NOAUTH",
  message: "Authentication required; give AUTH PASSWORD first",
};

/** Commands of Redis that its clients send by themselves, or that concern the connection. */
const HANDLERS: ReadonlyMap<string, Handler> = new Map<string, Handler>([
  ["PING", ([text]) => (text === undefined ? PONG : bulk(text))],
  ["ECHO", ([text]) => (text === undefined ? wrongCount("ECHO TEXT") : bulk(text))],
  ["SELECT", ([index]) => (index === "0" ? OK : noDatabase(index))],
  ["COMMAND", ([word], { version }) => commandTable(word, version)],
  ["CLIENT", client],
  ["INFO", (_, session) => serverFacts(session)],
]);

/** Those that may be given before the password. */
const OPEN_HANDLERS: ReadonlyMap<string, Handler> = new Map<string, Handler>([
  ["AUTH", (args, session) => auth(args, session)],
  ["HELLO", hello],
  ["QUIT", (_, session) => quit(session)],
]);

/**
 * The answer to a command that concerns the connection; undefined where it is one of the table of
 * commands. Nothing else is answered before the password.
 */
export async function answerSessionCommand(
  words: readonly string[],
  session: RespSession,
): Promise<RespReply | undefined> {
  const [first = "", ...args] = words;
  const word = first.toUpperCase();
  const open = OPEN_HANDLERS.get(word);
  if (open !== undefined) return open(args, session);
  if (!session.isTrusted) return NO_AUTH;
  return HANDLERS.get(word)?.(args, session);
}

/**
 * The answer to what is not all text. `redis-cli --pipe` has random bytes said to it at the end, to know
 * that all before them was answered.
 */
export function answerBytes(words: readonly Buffer[], { isTrusted }: RespSession): RespReply {
  const [word, bytes] = words;
  if (!isTrusted) return NO_AUTH;
  if (
    word !== undefined &&
    bytes !== undefined &&
    /^(?:echo|ping)$/i.test(word.toString("latin1"))
  ) {
    return { kind: "bytes", bytes };
  }
  return refusal("ERR_USAGE", "a word is not UTF-8; expected text");
}

async function auth(args: readonly string[], session: RespSession): Promise<RespReply> {
  const [first, second] = args;
  if (first === undefined || args.length > 2) return wrongCount("AUTH [default] PASSWORD");
  return (await login(second === undefined ? USER : first, second ?? first, session)) ?? OK;
}

/** Undefined where it was right. */
async function login(
  user: string,
  password: string,
  session: RespSession,
): Promise<RespReply | undefined> {
  if (session.authenticate === undefined) {
    return refusal("ERR_USAGE", "AUTH: no password is set here; give commands without it");
  }
  // The password is looked at in any case: another name is to take as long as another password.
  const outcome = await session.authenticate(password);
  if (outcome === "too-many") {
    return refusal("ERR_UNAUTHORIZED", "too many passwords at a time; wait for the answer to one");
  }
  if (outcome === "right" && user === USER) {
    session.isTrusted = true;
    return undefined;
  }
  return {
    kind: "error",
    word: "WRONGPASS",
    message: `the password is wrong, or the user is not "${USER}"`,
  };
}

/** `HELLO [2|3 [AUTH USER PASSWORD] [SETNAME NAME]]`. */
async function hello(args: readonly string[], session: RespSession): Promise<RespReply> {
  const [version, ...rest] = args;
  if (version !== undefined && version !== "2" && version !== "3") {
    return { kind: "error", word: "NOPROTO", message: "expected HELLO 2 or HELLO 3" };
  }
  const options = readHelloOptions(rest);
  if (options === undefined) return wrongCount("HELLO [2|3 [AUTH USER PASSWORD] [SETNAME NAME]]");
  if (options.login !== undefined) {
    const refused = await login(options.login.user, options.login.password, session);
    if (refused !== undefined) return refused;
  }
  if (!session.isTrusted) return NO_AUTH;
  if (options.name !== undefined) session.name = options.name.slice(0, MAX_NAME_LENGTH);
  if (version !== undefined) session.version = version === "3" ? 3 : 2;
  return {
    kind: "map",
    entries: [
      ["server", bulk("portolan")],
      ["version", bulk(await session.programVersion())],
      ["proto", { kind: "number", value: session.version }],
      ["id", { kind: "number", value: session.id }],
      ["mode", bulk("standalone")],
      ["role", bulk("master")],
      ["modules", EMPTY],
    ],
  };
}

interface HelloOptions {
  readonly login: { readonly user: string; readonly password: string } | undefined;
  readonly name: string | undefined;
}

function readHelloOptions(words: readonly string[]): HelloOptions | undefined {
  let login: HelloOptions["login"];
  let name: string | undefined;
  for (let at = 0; at < words.length; ) {
    const [word, first, second] = words.slice(at, at + 3);
    const option = word?.toUpperCase();
    if (option === "AUTH" && first !== undefined && second !== undefined) {
      login = { user: first, password: second };
      at += 3;
    } else if (option === "SETNAME" && first !== undefined) {
      name = first;
      at += 2;
    } else return undefined;
  }
  return { login, name };
}

function quit(session: RespSession): RespReply {
  session.isOver = true;
  return OK;
}

/** Clients ask it to learn about Redis' own commands, of which there are none. */
function commandTable(word: string | undefined, version: RespVersion): RespReply {
  switch (word?.toUpperCase()) {
    case "COUNT":
      return { kind: "number", value: 0 };
    case "DOCS":
      return version === 3 ? { kind: "map", entries: [] } : EMPTY;
    default:
      return EMPTY;
  }
}

function client(args: readonly string[], session: RespSession): RespReply {
  const [word = "", text = ""] = args;
  switch (word.toUpperCase()) {
    case "SETNAME":
      session.name = text.slice(0, MAX_NAME_LENGTH);
      return OK;
    case "SETINFO":
      return OK;
    case "GETNAME":
      return bulk(session.name);
    case "ID":
      return { kind: "number", value: session.id };
    default:
      return refusal("ERR_USAGE", "CLIENT: expected one of SETNAME, GETNAME, SETINFO, ID");
  }
}

/** What clients look for before they send anything: that nothing is being loaded. */
async function serverFacts({ programVersion }: RespSession): Promise<RespReply> {
  const version = await programVersion();
  return bulk(
    `# Server\r\nportolan_version:${version}\r\nredis_mode:standalone\r\nloading:0\r\nrole:master\r\n`,
  );
}

function wrongCount(usage: string): RespReply {
  return refusal("ERR_USAGE", `expected ${usage}`);
}

function noDatabase(index: string | undefined): RespReply {
  const given = index === undefined ? "nothing" : JSON.stringify(index);
  return refusal("ERR_USAGE", `SELECT: ${given} is not valid; expected 0, the only one`);
}
