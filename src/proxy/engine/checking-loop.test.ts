import { expect, test } from "vitest";
import { CheckingLoop } from "./checking-loop.ts";
import type { Fleet } from "./fleet.ts";

/** Of a fleet, what it uses: loops in places, and what they are told. */
function fleetWith(
  places: () => readonly number[],
  told: string[],
): Pick<Fleet, "groups" | "send"> {
  return {
    groups: () => [
      {
        name: "worker",
        loops: places().map((place) => ({ name: "", place, channels: async () => [] })),
      },
    ],
    send: (place, command) => {
      if (command.kind === "checks") told.push(`${place} ${command.isOn ? "on" : "off"}`);
      return true;
    },
  };
}

test("one loop checks; when it goes another one begins, and where none is left, the next that comes", () => {
  const told: string[] = [];
  let places: readonly number[] = [0, 1];
  const fleet = fleetWith(() => places, told);
  const checking = new CheckingLoop();
  checking.follow(fleet);
  checking.follow(fleet);
  expect(told).toEqual(["0 on"]);
  places = [1];
  checking.follow(fleet);
  expect(told).toEqual(["0 on", "0 off", "1 on"]);
  places = [];
  checking.lost(1);
  checking.follow(fleet);
  places = [1];
  checking.follow(fleet);
  expect(told.slice(3)).toEqual(["1 on"]);
});
