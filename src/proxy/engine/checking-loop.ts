import type { Fleet } from "./fleet.ts";

/** Sees to it that one loop checks the servers for all. */
export class CheckingLoop {
  #place: number | undefined;

  /** To be called when loops came or went: one that is there goes on, else another one begins. */
  follow(fleet: Pick<Fleet, "groups" | "send">): void {
    const places = fleet.groups().flatMap(({ loops }) => loops.map(({ place }) => place));
    if (this.#place !== undefined && places.includes(this.#place)) return;
    if (this.#place !== undefined) fleet.send(this.#place, { kind: "checks", isOn: false });
    [this.#place] = places;
    if (this.#place !== undefined) fleet.send(this.#place, { kind: "checks", isOn: true });
  }

  /** The loop in that place is gone, and with it what it was told. */
  lost(place: number): void {
    if (this.#place === place) this.#place = undefined;
  }
}
