import type { CoreError } from "../../core/errors.ts";
import { describe, keyOf, type ModelObject } from "../../core/model/object.ts";
import {
  invalid,
  MAX_PRINTED,
  type PathPart,
  type Problem,
  problemsError,
} from "../../core/model/problems.ts";
import { claimsOf } from "../../core/store/claims.ts";
import type { Document } from "./state-file.ts";

/** Where an object was read. */
export interface Origin {
  readonly document: Document;
  readonly path: readonly PathPart[];
}

/** All that was read from a set of files. */
export interface LoadedState {
  readonly objects: readonly ModelObject[];
  /** What was left out, in words: `2 x Deployment`. */
  readonly skipped: readonly string[];
}

interface Finding {
  readonly problem: Problem;
  readonly document: Document | undefined;
  /** What was there first, where two objects want the same. */
  readonly first: Holder | undefined;
}

interface Holder {
  readonly id: string;
  readonly origin: Origin;
  /** Whether others may have it too, as long as all of them share. */
  readonly isShared: boolean;
}

/** Collects the objects of all files, and all that is wrong with them. */
export class StateBuilder {
  readonly #objects: ModelObject[] = [];
  readonly #skipped = new Map<string, number>();
  readonly #holders = new Map<string, Holder>();
  readonly #findings: Finding[] = [];

  /** Adds an object under its own name. */
  add(object: ModelObject, origin: Origin): void {
    const id = describe(object.kind, keyOf(object));
    this.addAs(id, [object], origin);
  }

  /** Adds objects under one name, such as the endpoints of a slice: these differ among themselves. */
  addAs(id: string, objects: readonly ModelObject[], origin: Origin): void {
    const holder = { id, origin, isShared: false };
    if (!this.#claim(id, id, holder)) return;
    for (const object of objects) {
      for (const { what, id: claim, isShared } of claimsOf(object)) {
        this.#claim(claim, `${what} of ${id}`, { ...holder, isShared });
      }
      this.#objects.push(object);
    }
  }

  skip(what: string): void {
    this.#skipped.set(what, (this.#skipped.get(what) ?? 0) + 1);
  }

  fail(document: Document, problems: Iterable<Problem>): void {
    for (const problem of problems) this.#findings.push({ problem, document, first: undefined });
  }

  invalid(origin: Origin, value: unknown, expected: string): void {
    this.fail(origin.document, [invalid(origin.path, value, expected)]);
  }

  /** Notes what a file could not be read for; the other files are still read. */
  failWith(error: CoreError): void {
    for (const problem of error.problems) {
      this.#findings.push({ problem, document: undefined, first: undefined });
    }
  }

  /** @throws CoreError ERR_STATE_INVALID with all problems */
  finish(): LoadedState {
    if (this.#findings.length > 0) {
      throw problemsError("ERR_STATE_INVALID", this.#findings.map(locate));
    }
    const skipped = [...this.#skipped].map(([what, count]) => `${count} x ${what}`);
    return { objects: this.#objects, skipped };
  }

  /** Notes that the holder has what `claim` names; false where another one had it before. */
  #claim(claim: string, value: string, holder: Holder): boolean {
    const first = this.#holders.get(claim);
    if (first === undefined) this.#holders.set(claim, holder);
    if (first === undefined || (first.isShared && holder.isShared)) return true;
    const { path, document } = holder.origin;
    const problem: Problem = { path, fault: "taken", value, expected: "another one" };
    this.#findings.push({ problem, document, first });
    return false;
  }
}

/** Says where a problem stands. Only for those that are printed: to find the line takes long. */
function locate({ problem, document, first }: Finding, index: number): Problem {
  if (document === undefined || index >= MAX_PRINTED) return problem;
  const located = { ...problem, location: placeOf({ document, path: problem.path }) };
  if (first === undefined) return located;
  return { ...located, expected: `another one: ${first.id} (${placeOf(first.origin)}) has it` };
}

function placeOf({ document, path }: Origin): string {
  return `${document.file.name}:${document.lineOf(path)}`;
}
