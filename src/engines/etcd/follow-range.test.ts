import { expect, test } from "vitest";
import type { CoreError } from "../../core/errors.ts";
import type { EtcdMessage } from "../../wire/etcd/etcd-messages.fixture.ts";
import type { EtcdClient } from "./etcd-client.ts";
import { followRange } from "./follow-range.ts";
import { prefixRange } from "./prefix-range.ts";
import { clientOf, type ScriptedCall, scriptEtcd } from "./scripted-etcd.fixture.ts";

const put = (key: string, revision: number) => ({
  kv: { key: Buffer.from(key), mod_revision: revision, value: Buffer.from("x") },
});
const header = (revision: number, cluster = 1) => ({ cluster_id: cluster, revision });
const created = (revision: number) => ({ header: header(revision), created: true });

/** What a test makes of the calls, in their order; `Range` of a count is answered by itself. */
type Step = (call: ScriptedCall) => void;

interface Followed {
  /** What was asked: `list`, `count`, `watch 8`. */
  readonly asked: string[];
  /** What was told. */
  readonly told: string[];
  readonly failures: CoreError[];
  /** Settles when the last step was taken and something was told since. */
  until(line: string): Promise<void>;
}

function follow(client: EtcdClient, asked: string[]): Followed {
  const told: string[] = [];
  const failures: CoreError[] = [];
  const until = async (line: string): Promise<void> => {
    await expect.poll(() => told, { interval: 5, timeout: 10_000 }).toContain(line);
  };
  void followRange(client, prefixRange("/a/"), {
    begin: () => told.push("begin"),
    page: (kvs) => void told.push(`page ${kvs.map(({ key }) => key).join(" ")}`),
    whole: (revision) => told.push(`whole ${revision}`),
    changed: (events, revision) =>
      told.push(`${events.map(({ type, kv }) => `${type} ${kv.key}`).join(" ")} at ${revision}`),
    following: () => told.push("following"),
    compacted: () => told.push("compacted"),
    failed: (error) => failures.push(error),
  });
  return { asked, told, failures, until };
}

async function script(
  steps: Step[],
  countHeader: () => EtcdMessage = () => header(1000),
): Promise<Followed> {
  const asked: string[] = [];
  const { port } = await scriptEtcd((call) => {
    const { method, request } = call;
    if (method === "Range" && request["count_only"] === true) {
      asked.push("count");
      call.reply({ header: countHeader() });
      return;
    }
    const from = JSON.stringify(request["create_request"])?.match(/"start_revision":"(\d+)"/)?.[1];
    asked.push(method === "Range" ? "list" : `watch ${from ?? ""}`);
    steps.shift()?.(call);
  });
  return follow(clientOf([port]), asked);
}

test("lists, then watches from the next revision; parts of an answer are told as one", async () => {
  const { asked, told, until } = await script([
    (call) => call.reply({ header: header(7), kvs: [put("/a/1", 3).kv] }),
    (call) => {
      call.send(created(7));
      call.send({ header: header(8), fragment: true, events: [put("/a/2", 8)] });
      call.send({ header: header(8), events: [put("/a/3", 8)] });
      call.send({ header: header(9), events: [{ ...put("/a/1", 9), type: "DELETE" }] });
    },
  ]);
  await until("delete /a/1 at 9");
  expect(asked).toEqual(["list", "watch 8"]);
  expect(told).toEqual([
    "begin",
    "page /a/1",
    "whole 7",
    "following",
    "put /a/2 put /a/3 at 8",
    "delete /a/1 at 9",
  ]);
});

test("goes on where it was: after the last change, or as far as etcd said it is", async () => {
  const { asked, told, until } = await script([
    (call) => call.reply({ header: header(7) }),
    (call) => {
      call.send(created(7));
      call.send({ header: header(8), events: [put("/a/1", 8)] });
      // Half of an answer, and then nothing more: it was not told, so it comes again.
      call.send({ header: header(9), fragment: true, events: [put("/a/2", 9)] });
      setImmediate(() => call.drop());
    },
    (call) => {
      call.send(created(9));
      call.send({ header: header(9), events: [put("/a/1", 8), put("/a/2", 9)] });
      // Nothing of ours, but other keys moved on.
      call.send({ header: header(40) });
      setImmediate(() => call.drop());
    },
    (call) => {
      call.send(created(40));
      call.send({ header: header(41), events: [put("/a/3", 41)] });
    },
  ]);
  await until("put /a/3 at 41");
  expect(asked).toEqual(["list", "watch 8", "count", "watch 9", "count", "watch 41"]);
  expect(told.filter((line) => line.startsWith("put"))).toEqual([
    "put /a/1 at 8",
    "put /a/2 at 9",
    "put /a/3 at 41",
  ]);
});

test("what was compacted away is no failure: the whole is told again", async () => {
  const { asked, told, failures, until } = await script([
    (call) => call.reply({ header: header(7), kvs: [put("/a/1", 3).kv] }),
    (call) => {
      call.send(created(7));
      call.send({ header: header(50), canceled: true, compact_revision: 30 });
    },
    (call) => call.reply({ header: header(50), kvs: [put("/a/9", 45).kv] }),
    (call) => {
      call.send(created(50));
      call.send({ header: header(51), events: [put("/a/1", 51)] });
    },
  ]);
  await until("put /a/1 at 51");
  expect(asked).toEqual(["list", "watch 8", "list", "watch 51"]);
  expect(told.slice(4, 8)).toEqual(["compacted", "begin", "page /a/9", "whole 50"]);
  expect(failures).toEqual([]);
});

test("another etcd, or one that was set back, is read whole", async () => {
  const others = [header(1000, 2), header(3, 2)];
  const { asked, until } = await script(
    [
      (call) => call.reply({ header: header(7) }),
      (call) => call.drop(),
      (call) => call.reply({ header: header(1000, 2) }),
      (call) => call.drop(),
      (call) => call.reply({ header: header(3, 2) }),
      (call) => {
        call.send(created(3));
        call.send({ header: header(4, 2), events: [put("/a/1", 4)] });
      },
    ],
    () => others.shift() ?? header(1, 9),
  );
  await until("put /a/1 at 4");
  expect(asked).toEqual([
    "list",
    "watch 8",
    "count",
    "list",
    "watch 1001",
    "count",
    "list",
    "watch 4",
  ]);
});

test("a watch that etcd ends is told with its reason, and begun again", async () => {
  const { failures, until } = await script([
    (call) => call.reply({ header: header(7) }),
    (call) =>
      call.send({ header: header(7), created: true, canceled: true, cancel_reason: "no right" }),
    (call) => {
      call.send(created(7));
      call.send({ header: header(8), events: [put("/a/1", 8)] });
    },
  ]);
  await until("put /a/1 at 8");
  expect(failures.map(({ code, message }) => [code, message])).toEqual([
    ["ERR_ETCD_REFUSED", "etcd refuses: no right"],
  ]);
});
