/**
 * Numbers and layouts that the kernel and the C library give, for Linux on x64 and arm64 (little
 * endian, 64 bit; glibc and musl agree on all that is here). What differs between the two is `ABI`.
 */
export interface Abi {
  /** epoll_event in 32-bit words: its size, and where the low word of its 64 bits of data is. */
  readonly epollEventWords: number;
  readonly epollDataWord: number;
  /** The number of bpf(2), which has no function in the C library: syscalls(2). */
  readonly bpfCall: number;
}

/** epoll_event is packed on x64 only: see `EPOLL_PACKED` in linux/eventpoll.h. */
const ABIS: Readonly<Record<string, Abi>> = {
  x64: { epollEventWords: 3, epollDataWord: 1, bpfCall: 321 },
  arm64: { epollEventWords: 4, epollDataWord: 2, bpfCall: 280 },
};

/** The layouts of a processor, as `process.arch` names it; undefined where they are not known. */
export function abiOf(arch: string): Abi | undefined {
  return ABIS[arch];
}

export const AF_UNIX = 1;
export const AF_INET = 2;
export const AF_INET6 = 10;
export const AF_NETLINK = 16;

export const SOCK_STREAM = 1;
export const SOCK_DGRAM = 2;
export const SOCK_RAW = 3;
export const SOCK_SEQPACKET = 5;
export const SOCK_NONBLOCK = 0x800;
export const SOCK_CLOEXEC = 0x8_0000;

export const SOL_SOCKET = 1;
export const SO_REUSEADDR = 2;
export const SO_ERROR = 4;
export const SO_SNDBUF = 7;
export const SO_RCVBUF = 8;
export const SO_LINGER = 13;
export const SO_REUSEPORT = 15;
export const SO_PEERCRED = 17;
export const SO_RCVTIMEO = 20;
export const SO_SNDTIMEO = 21;
/** As SO_RCVBUF, without the cap; needs CAP_NET_ADMIN. */
export const SO_RCVBUFFORCE = 33;
export const SO_SNDBUFFORCE = 32;
/** Of the network namespace of a socket, 64 bits; the kernel gives none twice. */
export const SO_NETNS_COOKIE = 71;

export const SOL_NETLINK = 270;
/** Errors echo the header of a request, not all of it. */
export const NETLINK_CAP_ACK = 10;
/** Errors say more than a number. */
export const NETLINK_EXT_ACK = 11;

export const IPPROTO_TCP = 6;
export const IPPROTO_IPV6 = 41;
export const TCP_NODELAY = 1;
export const IPV6_V6ONLY = 26;
/** ip(7), ipv6(7): a datagram comes with the address that it was sent to, and may be sent from one. */
export const IP_PKTINFO = 8;
export const IPV6_RECVPKTINFO = 49;
export const IPV6_PKTINFO = 50;

/** udp(7): a message is cut into datagrams of this length; datagrams come as one message. */
export const SOL_UDP = 17;
export const UDP_SEGMENT = 103;
export const UDP_GRO = 104;
export const IPPROTO_IP = 0;
/** ip(7), ipv6(7): the path MTU to where a socket is connected to. */
export const IP_MTU = 14;
export const IPV6_MTU = 24;

export const SHUT_WR = 1;

export const MSG_PEEK = 0x02;
export const MSG_DONTWAIT = 0x40;
export const MSG_CTRUNC = 0x08;
/** Of recvmsg: how long the datagram was, also where it did not fit. */
export const MSG_TRUNC = 0x20;
export const MSG_NOSIGNAL = 0x4000;
export const MSG_MORE = 0x8000;
export const MSG_CMSG_CLOEXEC = 0x4000_0000;
export const SCM_RIGHTS = 1;
/** unix(7): more descriptors than this in one message are refused. */
export const SCM_MAX_FD = 253;

export const EPOLL_CLOEXEC = 0x8_0000;
export const EPOLL_CTL_ADD = 1;
export const EPOLL_CTL_DEL = 2;
export const EPOLLIN = 0x001;
export const EPOLLPRI = 0x002;
export const EPOLLOUT = 0x004;
export const EPOLLERR = 0x008;
export const EPOLLHUP = 0x010;
export const EPOLLRDHUP = 0x2000;
export const EPOLLEXCLUSIVE = 0x1000_0000;
/** Bit 31: kept unsigned. */
export const EPOLLET = 0x8000_0000;

export const EFD_CLOEXEC = 0x8_0000;
export const EFD_NONBLOCK = 0x800;
export const O_CLOEXEC = 0x8_0000;
export const O_NONBLOCK = 0x800;
export const F_DUPFD_CLOEXEC = 1030;
export const F_SETPIPE_SZ = 1031;
export const F_GETPIPE_SZ = 1032;
export const SPLICE_F_MOVE = 1;
export const SPLICE_F_NONBLOCK = 2;

export const RLIMIT_NOFILE = 7;
/** struct rlimit64: soft, hard. */
export const RLIMIT_BYTES = 16;

/** struct iovec: base, length. */
export const IOVEC_BYTES = 16;
/** struct msghdr; the offsets of its fields follow. */
export const MSGHDR_BYTES = 56;
export const MSGHDR_NAME = 0;
export const MSGHDR_NAMELEN = 8;
export const MSGHDR_IOV = 16;
export const MSGHDR_IOVLEN = 24;
export const MSGHDR_CONTROL = 32;
export const MSGHDR_CONTROLLEN = 40;
export const MSGHDR_FLAGS = 48;
/** struct mmsghdr: a msghdr, then the number of bytes moved. */
export const MMSGHDR_BYTES = 64;
export const MMSGHDR_LEN = 56;
/** struct cmsghdr: length (8 bytes), level, type; then the payload, padded to 8 bytes. */
export const CMSGHDR_BYTES = 16;
export const CMSG_LEVEL = 8;
export const CMSG_TYPE = 12;

export const SOCKADDR_IN_BYTES = 16;
export const SOCKADDR_IN6_BYTES = 28;
export const SUN_PATH_BYTES = 108;
/** Room for any of the three, rounded up to a multiple of 16. */
export const SOCKADDR_BYTES = 112;
/** struct ucred: process, user, group. */
export const UCRED_BYTES = 12;
/** struct linger: on, seconds. */
export const LINGER_BYTES = 8;
/** struct timeval: seconds, microseconds. */
export const TIMEVAL_BYTES = 16;
