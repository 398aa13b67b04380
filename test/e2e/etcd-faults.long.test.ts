import { expect, test } from "vitest";
import { requires } from "../support/requires.ts";
import { checkHistory } from "./etcd-faults.ts";

test.each(Array.from({ length: 12 }, (_, seed) => seed + 1))(
  "after a long history with faults the store has what etcd has: %i",
  requires("etcd", "etcdctl"),
  async (seed) => {
    await checkHistory(seed, 400);
    expect.assertions(2);
  },
);
