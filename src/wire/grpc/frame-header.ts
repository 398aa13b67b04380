/** What stands before each gRPC message: a flag (compressed or not), and its length, big-endian. */
export const FRAME_HEADER_BYTES = 5;
