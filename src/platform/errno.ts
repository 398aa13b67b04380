/**
 * The errors that sockets give, by the numbers of Linux (the same on x64 and arm64). They are the one
 * vocabulary of all providers: one that gets its errors from elsewhere translates the names.
 */
export const ERRNO = {
  EPERM: 1,
  ENOENT: 2,
  ESRCH: 3,
  EINTR: 4,
  EIO: 5,
  E2BIG: 7,
  EBADF: 9,
  EAGAIN: 11,
  ENOMEM: 12,
  EACCES: 13,
  EFAULT: 14,
  EBUSY: 16,
  EEXIST: 17,
  ENODEV: 19,
  ENOTDIR: 20,
  EINVAL: 22,
  ENFILE: 23,
  EMFILE: 24,
  ENOSPC: 28,
  EROFS: 30,
  EPIPE: 32,
  ENAMETOOLONG: 36,
  ENOSYS: 38,
  ELOOP: 40,
  ETIME: 62,
  EPROTO: 71,
  ENOTSOCK: 88,
  EMSGSIZE: 90,
  ENOPROTOOPT: 92,
  EPROTONOSUPPORT: 93,
  EOPNOTSUPP: 95,
  EAFNOSUPPORT: 97,
  EADDRINUSE: 98,
  EADDRNOTAVAIL: 99,
  ENETDOWN: 100,
  ENETUNREACH: 101,
  ECONNABORTED: 103,
  ECONNRESET: 104,
  ENOBUFS: 105,
  EISCONN: 106,
  ENOTCONN: 107,
  ETIMEDOUT: 110,
  ECONNREFUSED: 111,
  EHOSTDOWN: 112,
  EHOSTUNREACH: 113,
  EALREADY: 114,
  EINPROGRESS: 115,
} as const;

const NAMES: ReadonlyMap<number, string> = new Map(
  Object.entries(ERRNO).map(([name, number]) => [number, name]),
);
const NUMBERS: ReadonlyMap<string, number> = new Map(Object.entries(ERRNO));

/** `ECONNRESET` for 104 and for -104: calls return errors as negative numbers. */
export function errnoName(result: number): string {
  const errno = Math.abs(result);
  return NAMES.get(errno) ?? `errno ${errno}`;
}

/** The negative number of a name; EIO stands for a name that is not in the table. */
export function errnoResult(name: string): number {
  return -(NUMBERS.get(name) ?? ERRNO.EIO);
}
