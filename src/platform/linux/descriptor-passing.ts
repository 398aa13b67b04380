import { CoreError } from "../../core/errors.ts";
import {
  CMSG_LEVEL,
  CMSG_TYPE,
  CMSGHDR_BYTES,
  IOVEC_BYTES,
  MSG_CMSG_CLOEXEC,
  MSG_CTRUNC,
  MSG_NOSIGNAL,
  MSGHDR_BYTES,
  MSGHDR_CONTROL,
  MSGHDR_CONTROLLEN,
  MSGHDR_FLAGS,
  MSGHDR_IOV,
  MSGHDR_IOVLEN,
  SCM_MAX_FD,
  SCM_RIGHTS,
  SOL_SOCKET,
} from "./abi.ts";
import { close } from "./io-calls.ts";
import {
  allocateNative,
  getSize,
  type NativeMemory,
  putPointer,
  putSize,
} from "./native-memory.ts";
import { recvmsg, sendmsg } from "./socket-calls.ts";
import { checked } from "./system-error.ts";

const INT_BYTES = 4;
const IOVEC = MSGHDR_BYTES;
const CONTROL = IOVEC + IOVEC_BYTES;
/** CMSG_SPACE of the most descriptors, rounded up to 8. */
const CONTROL_BYTES = CMSGHDR_BYTES + Math.ceil((SCM_MAX_FD * INT_BYTES) / 8) * 8;
const PAYLOAD = CONTROL + CONTROL_BYTES;

export interface PassedMessage {
  /** Empty where the other side has closed. */
  readonly bytes: Uint8Array;
  /** Now descriptors of this process; the caller closes them. */
  readonly descriptors: readonly number[];
}

/**
 * Sends bytes and descriptors over a unix socket in one message (unix(7), SCM_RIGHTS). The receiver
 * gets descriptors of its own for the same open sockets; those of the sender stay open.
 */
export function sendDescriptors(
  fd: number,
  bytes: Uint8Array,
  descriptors: readonly number[],
): void {
  if (descriptors.length > SCM_MAX_FD || bytes.length === 0) {
    throw new CoreError(
      "ERR_SYSTEM_CALL",
      `sendmsg: ${descriptors.length} descriptors with ${bytes.length} bytes; ` +
        `a message holds at most ${SCM_MAX_FD} and at least one byte`,
    );
  }
  const message = prepare(bytes.length, CMSGHDR_BYTES + descriptors.length * INT_BYTES);
  message.bytes.set(bytes, PAYLOAD);
  const { view } = message;
  if (descriptors.length === 0) putSize(view, MSGHDR_CONTROLLEN, 0);
  putSize(view, CONTROL, CMSGHDR_BYTES + descriptors.length * INT_BYTES);
  view.setInt32(CONTROL + CMSG_LEVEL, SOL_SOCKET, true);
  view.setInt32(CONTROL + CMSG_TYPE, SCM_RIGHTS, true);
  for (const [index, descriptor] of descriptors.entries()) {
    view.setInt32(CONTROL + CMSGHDR_BYTES + index * INT_BYTES, descriptor, true);
  }
  const sent = checked("sendmsg", sendmsg(fd, message.address, MSG_NOSIGNAL));
  if (sent < bytes.length) {
    throw new CoreError("ERR_SYSTEM_CALL", `sendmsg: ${sent} of ${bytes.length} bytes were sent`);
  }
}

/** Receives one message; see `sendDescriptors`. Throws where more was sent than `maxBytes` hold. */
export function receiveDescriptors(fd: number, maxBytes: number): PassedMessage {
  const message = prepare(maxBytes, CONTROL_BYTES);
  const count = checked("recvmsg", recvmsg(fd, message.address, MSG_CMSG_CLOEXEC));
  const descriptors = readDescriptors(message.view);
  if ((message.view.getInt32(MSGHDR_FLAGS, true) & MSG_CTRUNC) !== 0) {
    for (const descriptor of descriptors) close(descriptor);
    throw new CoreError(
      "ERR_SYSTEM_CALL",
      "recvmsg: descriptors were lost; raise the limit of open files (ulimit -n)",
    );
  }
  return { bytes: message.bytes.slice(PAYLOAD, PAYLOAD + count), descriptors };
}

/** A msghdr, its one iovec, the control bytes and the payload, in one piece. */
function prepare(payloadBytes: number, controlBytes: number): NativeMemory {
  const memory = allocateNative(PAYLOAD + payloadBytes);
  const { view, address } = memory;
  putPointer(view, MSGHDR_IOV, address + IOVEC);
  putSize(view, MSGHDR_IOVLEN, 1);
  putPointer(view, MSGHDR_CONTROL, address + CONTROL);
  putSize(view, MSGHDR_CONTROLLEN, controlBytes);
  putPointer(view, IOVEC, address + PAYLOAD);
  putSize(view, IOVEC + 8, payloadBytes);
  return memory;
}

function readDescriptors(view: DataView): readonly number[] {
  if (getSize(view, MSGHDR_CONTROLLEN) < CMSGHDR_BYTES) return [];
  const isRights =
    view.getInt32(CONTROL + CMSG_LEVEL, true) === SOL_SOCKET &&
    view.getInt32(CONTROL + CMSG_TYPE, true) === SCM_RIGHTS;
  if (!isRights) return [];
  const count = (getSize(view, CONTROL) - CMSGHDR_BYTES) / INT_BYTES;
  return Array.from({ length: count }, (_, index) =>
    view.getInt32(CONTROL + CMSGHDR_BYTES + index * INT_BYTES, true),
  );
}
