/**
 * `short-calls PORT RATE SECONDS`: so many connections a second by the clock, each with one request.
 * Prints how many were made, and how many of them had no answer.
 */
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

const HOST = "127.0.0.1";
const REQUEST = "GET /small HTTP/1.0\r\n\r\n";
const TICK_MS = 1;
const MS_A_SECOND = 1000;
const PATIENCE_MS = 10_000;

const [port = 0, rate = 0, seconds = 0] = process.argv.slice(2).map(Number);
const total = rate * seconds;
const startMs = performance.now();
let made = 0;
let ended = 0;
let failed = 0;

function call(): void {
  let answer = "";
  const socket = connect(port, HOST, () => socket.write(REQUEST));
  socket.setTimeout(PATIENCE_MS, () => socket.destroy());
  socket.setEncoding("latin1").on("data", (text: string) => {
    answer += text;
  });
  socket.on("error", () => undefined);
  socket.on("close", () => {
    ended += 1;
    if (!answer.startsWith("HTTP/1.1 200")) failed += 1;
  });
}

while (made < total) {
  const due = Math.min(total, Math.floor(((performance.now() - startMs) * rate) / MS_A_SECOND));
  for (; made < due; made += 1) call();
  await sleep(TICK_MS);
}
while (ended < made) await sleep(TICK_MS);
console.log(JSON.stringify({ made, failed }));
