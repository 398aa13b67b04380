/** `connect-times IP PORT COUNT`: prints the median time in microseconds until a connection stands. */
import { once } from "node:events";
import { connect } from "node:net";
import { median } from "../../support/measure.ts";

const MICROSECONDS_A_MILLISECOND = 1000;

const [ip = "", port = "", count = ""] = process.argv.slice(2);
const times: number[] = [];
for (let round = 0; round < Number(count); round += 1) {
  const start = performance.now();
  const socket = connect(Number(port), ip);
  await once(socket, "connect");
  times.push((performance.now() - start) * MICROSECONDS_A_MILLISECOND);
  socket.destroy();
}
console.log(JSON.stringify(median(times)));
