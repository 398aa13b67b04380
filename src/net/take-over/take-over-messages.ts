import { CoreError } from "../../core/errors.ts";

/** What a message of sockets says about them; descriptors are counted in the order of the list. */
export interface OfferedListener {
  readonly id: string;
  readonly sockets: number;
}

/** One message: some listeners, and whether more messages follow. */
export interface Offer {
  readonly listeners: readonly OfferedListener[];
  readonly isLast: boolean;
}

/** The new process asks, and says when it serves the sockets itself. */
export const ASK = "take-over 1\n";
export const TAKEN = "taken\n";

const text = { encoder: new TextEncoder(), decoder: new TextDecoder() };

export function encodeText(message: string): Uint8Array {
  return text.encoder.encode(message);
}

export function decodeText(bytes: Uint8Array): string {
  return text.decoder.decode(bytes);
}

/** Listeners in messages of at most so many descriptors; one listener may be spread over several. */
export function splitOffers(
  listeners: readonly OfferedListener[],
  maxDescriptors: number,
): readonly Offer[] {
  const parts: OfferedListener[][] = [[]];
  let room = maxDescriptors;
  for (const { id, sockets } of listeners) {
    let left = sockets;
    while (left > 0) {
      if (room === 0) {
        parts.push([]);
        room = maxDescriptors;
      }
      const taken = Math.min(left, room);
      parts.at(-1)?.push({ id, sockets: taken });
      left -= taken;
      room -= taken;
    }
  }
  return parts.map((part, index) => ({ listeners: part, isLast: index === parts.length - 1 }));
}

export function encodeOffer(offer: Offer): Uint8Array {
  return encodeText(JSON.stringify(offer));
}

export function decodeOffer(bytes: Uint8Array): Offer {
  const message = decodeText(bytes);
  let value: unknown;
  try {
    value = JSON.parse(message);
  } catch (error) {
    throw malformed(message, { cause: error });
  }
  if (!isOffer(value)) throw malformed(message);
  return value;
}

function isOffer(value: unknown): value is Offer {
  if (typeof value !== "object" || value === null) return false;
  if (!("isLast" in value && "listeners" in value)) return false;
  const { isLast, listeners } = value;
  return typeof isLast === "boolean" && Array.isArray(listeners) && listeners.every(isListener);
}

function isListener(value: unknown): value is OfferedListener {
  if (typeof value !== "object" || value === null) return false;
  return (
    "id" in value &&
    "sockets" in value &&
    typeof value.id === "string" &&
    Number.isSafeInteger(value.sockets)
  );
}

function malformed(message: string, options?: ErrorOptions): CoreError {
  return new CoreError(
    "ERR_SYSTEM_CALL",
    `take-over: the running instance sent ${JSON.stringify(message.slice(0, 80))}, which is no list ` +
      "of listeners; both must be of versions that know each other",
    options,
  );
}
