import { expect, test } from "vitest";
import { seededRandom } from "../../../test/support/seeded-random.ts";
import { churn } from "./h2-churn.fixture.ts";

const SEEDS = Array.from({ length: 20 }, () => Math.floor(Math.random() * 2 ** 31));

test.each(SEEDS)("HTTP/2 under churn, seed %d", (seed) => {
  const { mixedUp, stuck, left, errors } = churn(3000, seededRandom(seed));
  expect({ mixedUp, stuck, left, errors }).toEqual({
    mixedUp: 0,
    stuck: 0,
    left: [1, 0, 0, 0, 0, 0, 0],
    errors: [],
  });
});
