import { expect, test } from "vitest";
import { describeFollowed, FollowCounts, followFamilies } from "./follow-counts.ts";
import { RequestTimes } from "./request-times.ts";

test("how something is followed: the first time is no reconnect, and silence is counted from its begin", () => {
  let nowMs = 0;
  const counts = new FollowCounts(() => nowMs);
  nowMs = 2000;
  expect(counts.staleSeconds).toBe(2);
  counts.listed();
  counts.following();
  counts.changed(3);
  expect(describeFollowed([counts])).toBe("3 events");
  counts.lost();
  nowMs = 7000;
  counts.lost();
  expect(describeFollowed([counts])).toBe("3 events, no changes for 5 s");
  counts.listed();
  counts.following();
  expect(describeFollowed([counts, counts])).toBe("6 events, 2 reconnects, 2 times read anew");
  const values = followFamilies("etcd", [{ labels: { resource: "x" }, counts }]);
  expect(values.map(({ name, samples }) => [name, samples])).toEqual(
    Object.entries({
      events_total: 3,
      reconnects_total: 1,
      relists_total: 1,
      stale_seconds: 0,
    }).map(([name, value]) => [`etcd_${name}`, [{ labels: { resource: "x" }, value }]]),
  );
});

test("how long requests take, by what they ask for, and how many fail", () => {
  const times = new RequestTimes();
  expect(times.meanMs()).toBeUndefined();
  times.took("Range", 0.001, true);
  times.took("Range", 0.003, false);
  times.took("Txn", 20, true);
  expect(times.meanMs()).toBeCloseTo(6668, 0);
  const [seconds, failures] = times.families("etcd");
  const last = seconds?.samples.filter(({ suffix }) => suffix === "_count");
  expect(last).toEqual([
    { suffix: "_count", labels: { call: "Range" }, value: 2 },
    { suffix: "_count", labels: { call: "Txn" }, value: 1 },
  ]);
  expect(seconds?.samples.find(({ labels }) => labels["le"] === "0.002")?.value).toBe(1);
  expect(failures?.samples).toEqual([
    { labels: { call: "Range" }, value: 1 },
    { labels: { call: "Txn" }, value: 0 },
  ]);
});
