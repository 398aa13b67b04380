import { DIGIT, isOf } from "../http1/characters.ts";
import type { FieldList } from "./hpack/field-list.ts";
import type { HeaderField } from "./hpack/header-field.ts";

export const NO_LENGTH = -1;
/** Has so many digits at most that it is a safe integer. */
const MAX_LENGTH_DIGITS = 15;

/**
 * The fields of a message or of its trailers, checked (RFC 9113 sections 8.2 and 8.3): nothing that HTTP/1
 * would read in another way, and nothing about the connection. Used for one message.
 */
export class MessageFields {
  /** Without pseudo fields and `host`. */
  readonly fields: HeaderField[] = [];
  /** Values of the pseudo fields; undefined where they are not there. */
  method: string | undefined;
  scheme: string | undefined;
  authority: string | undefined;
  path: string | undefined;
  status: string | undefined;
  host: string | undefined;
  /** -1 where it is not said. */
  contentLength: number = NO_LENGTH;

  /** False where they are malformed. */
  read(list: FieldList): boolean {
    for (const field of list.fields) if (!field.isValid || !this.#take(field)) return false;
    return !list.isTooLarge;
  }

  get hasPseudo(): boolean {
    const { method, scheme, authority, path, status } = this;
    return [method, scheme, authority, path, status].some((value) => value !== undefined);
  }

  #take(field: HeaderField): boolean {
    switch (field.name.kind) {
      case "other":
        this.fields.push(field);
        return true;
      case ":method":
        return this.#takePseudo("method", field.value);
      case ":scheme":
        return this.#takePseudo("scheme", field.value);
      case ":authority":
        return this.#takePseudo("authority", field.value);
      case ":path":
        return this.#takePseudo("path", field.value);
      case ":status":
        return this.#takePseudo("status", field.value);
      default:
        return this.#takeKnown(field);
    }
  }

  /** Each once, and before all others. */
  #takePseudo(name: "method" | "scheme" | "authority" | "path" | "status", value: string): boolean {
    const isFirst = this[name] === undefined;
    this[name] = value;
    return isFirst && this.fields.length === 0 && this.host === undefined;
  }

  #takeKnown(field: HeaderField): boolean {
    switch (field.name.kind) {
      case "pseudo":
      case "connection":
      case "keep-alive":
      case "proxy-connection":
      case "transfer-encoding":
      case "upgrade":
        return false;
      case "host":
        if (this.host !== undefined) return false;
        this.host = field.value;
        return true;
      case "content-length":
        return this.#takeLength(field);
      case "te":
        this.fields.push(field);
        return field.value.toLowerCase() === "trailers";
      default:
        this.fields.push(field);
        return true;
    }
  }

  #takeLength(field: HeaderField): boolean {
    const { value } = field;
    const isShort = value.length > 0 && value.length <= MAX_LENGTH_DIGITS;
    if (!isShort || this.contentLength !== NO_LENGTH) return false;
    for (let at = 0; at < value.length; at++) if (!isOf(value.charCodeAt(at), DIGIT)) return false;
    this.contentLength = Number(value);
    this.fields.push(field);
    return true;
  }
}

/** The trailers of a message; undefined where they are malformed. */
export function readTrailers(list: FieldList): readonly HeaderField[] | undefined {
  const message = new MessageFields();
  return message.read(list) && !message.hasPseudo ? message.fields : undefined;
}
