import type { Socket } from "node:net";
import { setImmediate as nextRound } from "node:timers/promises";
import { CoreError } from "../../core/errors.ts";
import type { Log } from "../../core/log.ts";
import { encodeReply, type RespReply } from "../../wire/resp/encode-reply.ts";
import { RespDecoder, type RespEvent } from "../../wire/resp/resp-decoder.ts";
import type { Caller, Command } from "../command.ts";
import type { Control } from "../control.ts";
import { parseWords } from "../grammar/parse-command.ts";
import { tokenize } from "../grammar/tokenize.ts";
import { refusal, renderError, renderReply } from "./render-reply.ts";
import type { RespControllerLimits } from "./resp-limits.ts";
import { answerBytes, answerSessionCommand, type RespSession } from "./session-commands.ts";

export interface RespConnectionOptions {
  readonly socket: Socket;
  readonly session: RespSession;
  readonly control: Control;
  readonly caller: Caller;
  readonly log: Log;
  readonly limits: RespControllerLimits;
  /** How many bytes of all connections wait for their readers. */
  readonly bufferedBytes: () => number;
}

/** So many commands of one client are answered before others have their turn. */
const COMMANDS_A_TURN = 64;

/**
 * One client. Its commands are answered in the order in which they came; while some wait nothing more is
 * read from it, and while it does not read nothing more is answered.
 */
export class RespConnection {
  readonly #options: RespConnectionOptions;
  readonly #decoder: RespDecoder;
  #isBusy = false;
  /** Whether the client has said that nothing more will come. */
  #hasEnded = false;

  constructor(options: RespConnectionOptions) {
    this.#options = options;
    this.#decoder = new RespDecoder(options.limits);
    const { socket } = options;
    socket.on("data", (chunk) => void this.#take(chunk));
    socket.on("end", () => {
      this.#hasEnded = true;
      if (!this.#isBusy) socket.destroySoon();
    });
    socket.on("timeout", () => {
      // A command may take its time.
      if (!this.#isBusy || socket.writableNeedDrain) socket.destroy();
    });
    socket.setTimeout(options.limits.idleTimeoutMs);
    if (!options.session.isTrusted) this.#expectPassword();
  }

  /** Whether the password was given, or there is none. */
  get isTrusted(): boolean {
    return this.#options.session.isTrusted;
  }

  /** Ends it once what was asked is answered. */
  end(): void {
    this.#options.session.isOver = true;
    if (!this.#isBusy) this.#options.socket.destroySoon();
  }

  async #take(chunk: Buffer): Promise<void> {
    const { socket, session, limits, caller, log } = this.#options;
    // More than one chunk comes at once only after the end.
    if (session.isOver) return;
    this.#isBusy = true;
    socket.pause();
    try {
      await this.#answerAll(this.#decoder.feed(chunk));
    } catch (error) {
      log.error({ err: error, from: caller.from }, "a RESP connection was closed by a defect");
      socket.destroy();
    }
    this.#isBusy = false;
    if (socket.destroyed) return;
    if (session.isOver || this.#hasEnded || this.#decoder.isDone) socket.destroySoon();
    else {
      socket.setTimeout(limits.idleTimeoutMs);
      socket.resume();
    }
  }

  /** However often something comes from it: strangers must not take the places of others. */
  #expectPassword(): void {
    const { socket, session, limits } = this.#options;
    const timer = setTimeout(() => {
      if (!session.isTrusted) socket.destroy();
    }, limits.loginTimeoutMs);
    socket.on("close", () => clearTimeout(timer));
  }

  async #answerAll(events: readonly RespEvent[]): Promise<void> {
    const { socket, session } = this.#options;
    let count = 0;
    for (const event of events) {
      const reply = await this.#answer(event);
      if (socket.destroyed) return;
      if (reply !== undefined) await this.#send(reply);
      if (session.isOver || socket.destroyed) return;
      count += 1;
      if (count % COMMANDS_A_TURN === 0) await nextRound();
    }
  }

  /** Undefined where there is none. */
  async #answer(event: RespEvent): Promise<RespReply | undefined> {
    const { session } = this.#options;
    switch (event.kind) {
      case "words":
        return this.#answerWords(event.words);
      case "line":
        return this.#answerLine(event.line);
      case "not-text":
        return answerBytes(event.words, session);
      case "failed":
        return { kind: "error", word: "ERR", message: `Protocol error: ${event.reason}` };
      case "http":
        this.#dropHttp();
        return undefined;
    }
  }

  /** A page of the web made a browser send commands: it must not even see an answer. */
  #dropHttp(): void {
    const { socket, caller, log } = this.#options;
    log.warn({ from: caller.from }, "a RESP connection spoke HTTP, and was dropped");
    socket.destroy();
  }

  #answerWords(words: readonly string[]): Promise<RespReply> {
    const { control } = this.#options;
    return this.#execute(words, () => parseWords(words, control.resources));
  }

  async #answerLine(line: string): Promise<RespReply | undefined> {
    const { control } = this.#options;
    const words = wordsOfLine(line);
    // A comment asks for nothing.
    if (words.length === 0) return undefined;
    return this.#execute(words, () => control.parse(line));
  }

  async #execute(words: readonly string[], parse: () => Command): Promise<RespReply> {
    const { session, control, caller, log } = this.#options;
    try {
      const own = await answerSessionCommand(words, session);
      if (own !== undefined) return own;
      if (words.join("").trim() === "") {
        return refusal("ERR_USAGE", "the command is empty; expected one, such as man");
      }
      return renderReply(await control.run(parse(), caller), session.version);
    } catch (error) {
      if (!(error instanceof CoreError)) {
        log.error({ err: error, from: caller.from }, "a command failed by a defect");
      }
      return renderError(error);
    }
  }

  async #send(reply: RespReply): Promise<void> {
    const { socket, session, limits, caller, log, bufferedBytes } = this.#options;
    const bytes = encodeReply(reply, session.version);
    // Small ones are held back by the socket itself.
    if (
      bytes.length > socket.writableHighWaterMark &&
      bufferedBytes() + bytes.length > limits.maxBufferedBytes
    ) {
      const fields = { from: caller.from, bytes: bytes.length, limit: limits.maxBufferedBytes };
      log.warn(fields, "a RESP connection was closed: its answer does not fit in what may wait");
      socket.destroy();
      return;
    }
    if (!socket.write(bytes)) await this.#drained();
  }

  /** Settles when the client has read all, or is gone. */
  #drained(): Promise<void> {
    const { socket, limits } = this.#options;
    socket.setTimeout(limits.stallTimeoutMs);
    return new Promise((resolve) => {
      const settle = (): void => {
        socket.off("drain", settle);
        socket.off("close", settle);
        resolve();
      };
      socket.on("drain", settle);
      socket.on("close", settle);
    });
  }
}

function wordsOfLine(line: string): readonly string[] {
  try {
    return tokenize(line).map(({ text }) => text);
  } catch {
    // What is wrong with it is told when it is parsed, to those who may hear it.
    return line.split(/\s+/);
  }
}
