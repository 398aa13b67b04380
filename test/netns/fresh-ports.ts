/**
 * Ports to call from, each used once in a long while: a flow that the kernel still tracks is never
 * taken up again. They leave out where services and programs of the node are.
 */
export class FreshPorts {
  #next = FIRST;

  next(): number {
    const port = this.#next;
    this.#next = port === LAST ? FIRST : port + 1;
    if (this.#next === KEPT_FIRST) this.#next = KEPT_LAST + 1;
    return port;
  }
}

const FIRST = 10_000;
const LAST = 64_999;
const KEPT_FIRST = 30_000;
const KEPT_LAST = 32_999;
