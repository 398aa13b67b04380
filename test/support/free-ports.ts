import { once } from "node:events";
import { createServer } from "node:net";

const HOST = "127.0.0.1";
/** Below those that the system gives to callers: none of these is taken by a connection meanwhile. */
const LOWEST = 20_000;
const BLOCKS = 600;

/** The first of so many ports in a row that nobody has at this moment. */
export async function freePortBlock(count: number): Promise<number> {
  const start = Math.floor(Math.random() * BLOCKS);
  for (let block = 0; block < BLOCKS; block += 1) {
    const first = LOWEST + ((start + block) % BLOCKS) * count;
    const ports = Array.from({ length: count }, (_, index) => first + index);
    if ((await Promise.all(ports.map(isFree))).every(Boolean)) return first;
  }
  throw new Error(`there are no ${count} free ports in a row from ${LOWEST} on`);
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    await once(server.listen(port, HOST), "listening");
    return true;
  } catch {
    return false;
  } finally {
    server.close();
  }
}
