import { EVENT_ID, type Event, getScalarValue, parseEvents } from "js-yaml";
import type { PathPart } from "../../core/model/problems.ts";

/**
 * Where the value at `path` of a document of a YAML text stands, or the nearest thing around it that exists.
 * By the parser that also loads documents, so that both read the text alike; only for errors, since
 * it keeps an event for every scalar.
 */
export function locateInYaml(text: string, path: readonly PathPart[], document = 0): number {
  return new Walk(text, parseEvents(text, {})).find(path, document);
}

class Walk {
  readonly #text: string;
  readonly #events: readonly Event[];

  constructor(text: string, events: readonly Event[]) {
    this.#text = text;
    this.#events = events;
  }

  find(path: readonly PathPart[], document: number): number {
    let at = this.#contentOf(document);
    let found = startOf(this.#events[at]) ?? 0;
    for (const part of path) {
      const next = this.#child(at, part);
      if (next === undefined) break;
      at = next.value;
      found = startOf(this.#events[next.shown]) ?? found;
    }
    return found;
  }

  /** The event after the one that begins the document. */
  #contentOf(document: number): number {
    let left = document;
    return 1 + this.#events.findIndex((event) => event.type === EVENT_ID.DOCUMENT && left-- === 0);
  }

  /** The events of what `part` names in the collection at `at`: its value, and what to show (its key). */
  #child(at: number, part: PathPart): { value: number; shown: number } | undefined {
    const type = this.#events[at]?.type;
    const isMap = type === EVENT_ID.MAPPING;
    if (!isMap && type !== EVENT_ID.SEQUENCE) return undefined;
    let next = at + 1;
    for (let index = 0; ; index++) {
      const event = this.#events[next];
      if (event === undefined || event.type === EVENT_ID.POP) return undefined;
      const value = isMap ? this.#after(next) : next;
      if (isMap ? this.#scalar(event) === String(part) : index === part)
        return { value, shown: next };
      next = this.#after(value);
    }
  }

  /** The event after the whole value that begins at `at`. */
  #after(at: number): number {
    let depth = 0;
    for (let next = at; next < this.#events.length; next++) {
      const type = this.#events[next]?.type;
      if (type === EVENT_ID.SEQUENCE || type === EVENT_ID.MAPPING) depth++;
      else if (type === EVENT_ID.POP) depth--;
      if (depth === 0) return next + 1;
    }
    return this.#events.length;
  }

  #scalar(event: Event): string | undefined {
    return event.type === EVENT_ID.SCALAR ? getScalarValue(this.#text, event) : undefined;
  }
}

function startOf(event: Event | undefined): number | undefined {
  switch (event?.type) {
    case EVENT_ID.SEQUENCE:
    case EVENT_ID.MAPPING:
      return event.start;
    case EVENT_ID.SCALAR:
      return event.valueStart;
    case EVENT_ID.ALIAS:
      return event.anchorStart;
    default:
      return undefined;
  }
}
