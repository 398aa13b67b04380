/**
 * Some of the nodes of an edge, as far as its manager sees them: each joins, deploys, renews and follows, over
 * connections of its own. Told what to do by messages.
 *
 *     node edge-nodes.js PORT FOLDER FIRST COUNT   (forked)
 */
import { join } from "node:path";
import { ManagerClient } from "../../../src/brain/manager/client/manager-client.ts";
import { joinManager, membershipFiles } from "../../../src/brain/manager/client/node-membership.ts";
import { connectApi } from "../../../src/sources/api/api-target.ts";
import { WatchCall } from "../../../src/sources/api/watch-call.ts";
import { ProtoWriter } from "../../../src/wire/protobuf/proto-writer.ts";
import { SET_ID } from "../../../src/wire/sets/set-id.ts";
import { writeWatchRequest } from "../../../src/wire/sets/watch-request.ts";

const INSTANCES_A_NODE = 10;
const SERVICES = 1000;
/** What a node calls besides, and what all of them do. */
const CALLED = 10;
const HOT = "default/hot";
const CONNECT_MS = 60_000;
const MAX_MESSAGE_BYTES = 16_777_216;
const AT_ONCE = 2;

const [port = "", folder = "", first = "", count = ""] = process.argv.slice(2);
const address = { kind: "tcp", host: "127.0.0.1", port: Number(port) } as const;
const numbers = Array.from({ length: Number(count) }, (_, index) => Number(first) + index);
const clients = new Map<number, ManagerClient>();
let renewEveryMs = 0;
let heardMs: number[] = [];

const nameOf = (number: number): string => `n${number}`;
const folderOf = (number: number): string => join(folder, nameOf(number));
const serviceOf = (number: number): string => `default/s${number % SERVICES}`;
/** Of the clock that all processes share. */
const nowMs = (): number => Number(process.hrtime.bigint()) / 1e6;

/** A few at a time. */
async function forAll(work: (number: number) => Promise<void>): Promise<void> {
  const left = numbers[Symbol.iterator]();
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (const number of left) await work(number);
    }),
  );
}

async function enter(number: number, token: string): Promise<void> {
  const request = { token, node: nameOf(number), addresses: ["192.0.2.1"], zone: "", labels: {} };
  const tunnel = { address: `192.0.2.1:${1 + number}`, publicKey: "" };
  ({ renewEveryMs } = await joinManager(address, folderOf(number), { ...request, tunnel }));
  clients.set(
    number,
    await ManagerClient.connect({ address, tls: membershipFiles(folderOf(number)) }),
  );
  renew(number);
}

async function deploy(number: number): Promise<void> {
  for (let place = 0; place < INSTANCES_A_NODE; place += 1) {
    await clients.get(number)?.call("Deploy", {
      service: serviceOf(number * INSTANCES_A_NODE + place),
      instance: number,
      addresses: [`10.18.0.${place + 2}`],
    });
  }
}

/** Follows until the end; settles with the first state. */
async function follow(number: number): Promise<void> {
  const interest = [HOT];
  for (let place = 0; place < INSTANCES_A_NODE; place += 1) {
    interest.push(serviceOf(number * INSTANCES_A_NODE + place));
  }
  for (let place = 0; place < CALLED; place += 1) interest.push(serviceOf(number * 7 + place * 31));
  const writer = new ProtoWriter(64);
  writeWatchRequest(writer, nameOf(number), [SET_ID.nodes], [...new Set(interest)]);
  const request = Uint8Array.from(writer.view());
  const session = await connectApi({ address, tls: membershipFiles(folderOf(number)) }, CONNECT_MS);
  const call = new WatchCall(session, "/localv1.Sets/Watch", MAX_MESSAGE_BYTES);
  const next = (): Promise<void> =>
    call.change(request, (op) => {
      if (op.op !== "set" || !op.path.startsWith(`${HOT}/`)) return;
      heardMs.push(nowMs());
      if (heardMs.length === numbers.length) process.send?.({ heardMs });
    });
  await next();
  const goOn = async (): Promise<never> => {
    for (;;) await next();
  };
  void goOn().catch((error: unknown) => fail(error));
}

function renew(number: number): void {
  const again = (): void => {
    // One that fails is followed by the next one, as on real nodes.
    clients
      .get(number)
      ?.call("Renew", {})
      .catch(() => undefined);
  };
  setInterval(again, renewEveryMs);
}

function fail(error: unknown): void {
  console.error(error);
  process.exit(1);
}

process.on("message", (message: { readonly what: string; readonly token?: string }) => {
  const steps: Readonly<Record<string, () => Promise<void>>> = {
    join: () => forAll((number) => enter(number, message.token ?? "")),
    deploy: () => forAll(deploy),
    follow: () => forAll(follow),
    round: async () => {
      heardMs = [];
    },
  };
  steps[message.what]?.().then(() => process.send?.({ done: message.what }), fail);
});
process.on("disconnect", () => process.exit(0));
