import type { SitePage } from "../engine-config.ts";

const HEAD_METHODS: ReadonlySet<string> = new Set(["GET", "HEAD"]);
const NOT_FOUND = "<!doctype html>\n<title>404 Not Found</title>\n<h1>Not Found</h1>\n";
const NOT_ALLOWED = "<!doctype html>\n<title>405 Not Allowed</title>\n<h1>Not Allowed</h1>\n";
const HTML = "text/html; charset=utf-8";

/** The pages of a server, for all who do not ask for a tunnel. They are in memory: no path leads to a disk. */
export class Site {
  readonly #pages: ReadonlyMap<string, SitePage>;

  /** @param pages by their paths, `/style.css` */
  constructor(pages: ReadonlyMap<string, SitePage>) {
    this.#pages = pages;
  }

  /** A whole response, after which the connection is closed. */
  answer(method: string, path: string): Buffer {
    if (!HEAD_METHODS.has(method)) {
      return render("405 Not Allowed", HTML, Buffer.from(NOT_ALLOWED), "Allow: GET, HEAD\r\n");
    }
    const page = this.#find(path);
    const whole =
      page === undefined
        ? render("404 Not Found", HTML, Buffer.from(NOT_FOUND))
        : render("200 OK", page.type, page.body);
    return method === "HEAD" ? headOf(whole) : whole;
  }

  #find(path: string): SitePage | undefined {
    const decoded = decode(path);
    if (decoded === undefined) return undefined;
    const folder = decoded.endsWith("/") ? decoded : `${decoded}/`;
    return this.#pages.get(decoded) ?? this.#pages.get(`${folder}index.html`);
  }
}

function decode(path: string): string | undefined {
  try {
    return decodeURIComponent(path);
  } catch {
    return undefined;
  }
}

function render(status: string, type: string, body: Uint8Array, further = ""): Buffer {
  const head =
    `HTTP/1.1 ${status}\r\nContent-Type: ${type}\r\nContent-Length: ${body.length}\r\n` +
    `${further}Connection: close\r\n\r\n`;
  return Buffer.concat([Buffer.from(head, "latin1"), body]);
}

function headOf(whole: Buffer): Buffer {
  return whole.subarray(0, whole.indexOf("\r\n\r\n") + 4);
}
