import { closeSync, fstatSync, openSync } from "node:fs";
import { bindCall, failure } from "./binding.ts";
import { checked } from "./system-error.ts";

const CLONE_NEWNET = 0x4000_0000;
/** Of the calling thread: namespaces are a matter of threads, not of processes. */
const OWN_NAMESPACE = "/proc/thread-self/ns/net";

const cUnshare = bindCall<[number]>("int unshare(int)");
const cSetns = bindCall<[number, number]>("int setns(int, int)");

/**
 * A network namespace without a name: it ends when nobody holds it any more, so nothing of it is left
 * however the process ends. Sockets belong for good to the namespace they were opened in, and child
 * processes to the one that their parent was in when it started them.
 */
export class NetworkNamespace {
  readonly #descriptor: number;

  private constructor(descriptor: number) {
    this.#descriptor = descriptor;
  }

  /**
   * unshare(2). Needs root.
   * @param prepare is done inside
   * @throws CoreError ERR_SYSTEM_CALL
   */
  static create(prepare: () => void = () => undefined): NetworkNamespace {
    const home = openSync(OWN_NAMESPACE, "r");
    try {
      checked("unshare", cUnshare(CLONE_NEWNET) < 0 ? failure() : 0);
      try {
        prepare();
        return NetworkNamespace.current();
      } finally {
        enter(home);
      }
    } finally {
      closeSync(home);
    }
  }

  /** One that is there: `/proc/PID/ns/net`, `/run/netns/NAME`. Throws as `openSync` does. */
  static open(path: string): NetworkNamespace {
    return new NetworkNamespace(openSync(path, "r"));
  }

  /** The one that this thread is in. */
  static current(): NetworkNamespace {
    return NetworkNamespace.open(OWN_NAMESPACE);
  }

  /** For netlink requests that name a namespace. */
  get descriptor(): number {
    return this.#descriptor;
  }

  /** Two are the same where this is; a number is given to another one only when it ended. */
  get id(): string {
    const { dev, ino } = fstatSync(this.#descriptor);
    return `${dev}:${ino}`;
  }

  /** Where other programs of this machine find it, as long as this process holds it. */
  get path(): string {
    return `/proc/${process.pid}/fd/${this.#descriptor}`;
  }

  /**
   * setns(2): does something inside and comes back. Only what is done before `work` returns is done
   * there: nothing that waits belongs into it.
   */
  run<T>(work: () => T): T {
    const home = openSync(OWN_NAMESPACE, "r");
    try {
      enter(this.#descriptor);
      try {
        return work();
      } finally {
        enter(home);
      }
    } finally {
      closeSync(home);
    }
  }

  close(): void {
    closeSync(this.#descriptor);
  }
}

function enter(descriptor: number): void {
  checked("setns", cSetns(descriptor, CLONE_NEWNET) < 0 ? failure() : 0);
}
