/** Holds a tunnel until it is killed: its options and its state as JSON. Says when it is there. */
import { Tunnel } from "../../src/edge/tunnel/tunnel.ts";
import { sourceHost } from "../../src/net/threads/loop-thread.fixture.ts";

const { options, state } = JSON.parse(process.argv[2] ?? "");
const tunnel = await Tunnel.open(sourceHost(), options);
tunnel.apply(state);
process.stdout.write(`${JSON.stringify((await tunnel.stats()).kernelPath)}\n`);
