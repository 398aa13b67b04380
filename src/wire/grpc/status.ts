/** The codes of gRPC that are used here (https://grpc.io/docs/guides/status-codes/). */
export const GRPC_STATUS = {
  ok: 0,
  cancelled: 1,
  unknown: 2,
  invalidArgument: 3,
  deadlineExceeded: 4,
  notFound: 5,
  alreadyExists: 6,
  resourceExhausted: 8,
  unimplemented: 12,
  internal: 13,
  unavailable: 14,
  unauthenticated: 16,
} as const;

export interface GrpcStatus {
  readonly code: number;
  readonly message: string;
}

/** As the header `grpc-message` wants it: percent-encoded UTF-8 outside of printable ASCII. */
export function encodeGrpcMessage(message: string): string {
  let encoded = "";
  for (const byte of Buffer.from(message)) {
    const plain = byte >= 0x20 && byte <= 0x7e && byte !== 0x25;
    encoded += plain
      ? String.fromCharCode(byte)
      : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
  }
  return encoded;
}

/** Reads what `encodeGrpcMessage` or another gRPC program wrote; a bad escape stays as it is. */
export function decodeGrpcMessage(encoded: string): string {
  try {
    return decodeURIComponent(encoded);
  } catch {
    return encoded;
  }
}
