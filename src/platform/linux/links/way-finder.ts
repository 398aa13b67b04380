import { NetlinkWriter } from "../../../wire/netlink/netlink-writer.ts";
import { ReplyReader } from "../../../wire/netlink/reply-reader.ts";
import {
  parseWay,
  type WayTo,
  writeWayQuestion,
} from "../../../wire/netlink/route/route-question.ts";
import {
  ARPHRD_ETHER,
  NETLINK_ROUTE,
  RTM_NEWROUTE,
} from "../../../wire/netlink/route/route-words.ts";
import { AF_INET, AF_NETLINK, SOCK_CLOEXEC, SOCK_DGRAM, SOCK_NONBLOCK, SOCK_RAW } from "../abi.ts";
import { close, ioctl } from "../io-calls.ts";
import { allocateNative } from "../native-memory.ts";
import { recv, send, socket } from "../socket-calls.ts";
import { checked } from "../system-error.ts";

/** netdevice(7) */
const SIOCGIFNAME = 0x8910;
const SIOCGIFHWADDR = 0x8927;
const IFNAMSIZ = 16;
const IFREQ_BYTES = 40;
const MESSAGE_BYTES = 4096;

/**
 * The way to an address of IPv4, by what the kernel says at this moment. All of it is calls that return at once,
 * for threads that wait for nothing else. It is of the network namespace of the thread that makes it.
 */
export class WayFinder {
  readonly #netlink: number;
  readonly #control: number;
  readonly #memory = allocateNative(MESSAGE_BYTES);
  readonly #writer = new NetlinkWriter();
  /** What a link is does not change. */
  readonly #isEthernet = new Map<number, boolean>();
  #sequence = 0;

  /** @throws CoreError ERR_SYSTEM_CALL */
  constructor() {
    const type = SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC;
    this.#netlink = checked("socket", socket(AF_NETLINK, type, NETLINK_ROUTE), "netlink");
    this.#control = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (this.#control < 0) close(this.#netlink);
    checked("socket", this.#control);
  }

  /** Undefined where there is none, and where it is no way over Ethernet. `source`: see `writeWayQuestion`. */
  find(destination: number, source: number): WayTo | undefined {
    const way = this.#ask(destination, source);
    if (way === undefined || !this.#leadsOverEthernet(way.link)) return undefined;
    const from = source === 0 ? way.source : source;
    return from === 0 ? undefined : { link: way.link, source: from };
  }

  close(): void {
    close(this.#netlink);
    close(this.#control);
  }

  #ask(destination: number, source: number): WayTo | undefined {
    const { bytes, view, address } = this.#memory;
    this.#sequence += 1;
    this.#writer.clear();
    writeWayQuestion(this.#writer, this.#sequence, destination, source);
    const question = this.#writer.written();
    bytes.set(question);
    if (send(this.#netlink, address, question.length, 0) < 0) return undefined;
    let way: WayTo | undefined;
    const reader = new ReplyReader(this.#sequence, this.#sequence, (_view, from, to, kind) => {
      if (kind === RTM_NEWROUTE) way = parseWay(view, from, to);
    });
    const received = recv(this.#netlink, address, MESSAGE_BYTES);
    if (received > 0) reader.feed(new DataView(bytes.buffer, 0, received));
    return way;
  }

  #leadsOverEthernet(link: number): boolean {
    const known = this.#isEthernet.get(link);
    if (known !== undefined) return known;
    const request = allocateNative(IFREQ_BYTES);
    request.view.setInt32(IFNAMSIZ, link, true);
    const isIt =
      ioctl(this.#control, SIOCGIFNAME, request.address) >= 0 &&
      ioctl(this.#control, SIOCGIFHWADDR, request.address) >= 0 &&
      request.view.getUint16(IFNAMSIZ, true) === ARPHRD_ETHER;
    this.#isEthernet.set(link, isIt);
    return isIt;
  }
}
