import { formatHostPort } from "./address.ts";

const PREFIX = "unix:";
/** As Linux has it; a zero ends it. */
const MAX_BYTES = 107;
const CONTROL_CHARACTER = /\p{Cc}/u;

/** What would be right, for errors. */
export const SOCKET_PATH_FORM: string = `the path of a unix socket: from / on, at most ${MAX_BYTES} bytes`;

/** Tells the path of a unix socket from an address and a host name: neither has a slash. */
export function isSocketPath(host: string): boolean {
  return host.startsWith("/");
}

/** Whether the system could have a socket there. */
export function isGoodSocketPath(path: string): boolean {
  return (
    isSocketPath(path) &&
    !path.endsWith("/") &&
    !CONTROL_CHARACTER.test(path) &&
    new TextEncoder().encode(path).length <= MAX_BYTES
  );
}

/** The path in `unix:/run/web.sock`; undefined where `text` is no such thing. */
export function parseSocketPath(text: string): string | undefined {
  if (!text.startsWith(PREFIX)) return undefined;
  const path = text.slice(PREFIX.length);
  return isGoodSocketPath(path) ? path : undefined;
}

/** `10.0.0.1:80`, `web.example:80`, `unix:/run/web.sock`; the port counts where there can be one. */
export function formatPlace(host: string, port: number): string {
  return isSocketPath(host) ? `${PREFIX}${host}` : formatHostPort(host, port);
}

/** What a server there is called that has no other name; a name has no slash and no space. */
export function nameOfPlace(host: string, port: number): string {
  if (!isSocketPath(host)) return formatHostPort(host, port);
  return `${PREFIX}${host.slice(1).replaceAll("/", ":").replaceAll(/\s/g, "_")}`;
}
