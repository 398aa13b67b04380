import { expect, test } from "vitest";
import { seededRandom } from "../../../test/support/seeded-random.ts";
import { churn } from "./h2-churn.fixture.ts";

test("clients, servers and the network come and go: no byte is lost or mixed up, nothing is left", () => {
  const { answered, failed, ...outcome } = churn(600, seededRandom(7));
  expect(outcome).toEqual({ mixedUp: 0, stuck: 0, left: [1, 0, 0, 0, 0, 0, 0], errors: [] });
  expect(answered).toBeGreaterThan(failed);
});
