/** What a request is answered with. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Undefined: there is none, as with 204. */
  readonly body: string | undefined;
}

export const STATUS = {
  ok: 200,
  created: 201,
  noContent: 204,
  notModified: 304,
  badRequest: 400,
  unauthorized: 401,
  forbidden: 403,
  notFound: 404,
  methodNotAllowed: 405,
  requestTimeout: 408,
  conflict: 409,
  preconditionFailed: 412,
  tooLarge: 413,
  unsupportedType: 415,
  tooMany: 429,
  headersTooLarge: 431,
  failed: 500,
  notPossible: 501,
  unavailable: 503,
} as const;

const JSON_TYPE = "application/json; charset=utf-8";

export function jsonAnswer(
  status: number,
  value: unknown,
  headers: Readonly<Record<string, string>> = {},
): Answer {
  return {
    status,
    headers: { "content-type": JSON_TYPE, ...headers },
    body: `${JSON.stringify(value)}\n`,
  };
}

function emptyAnswer(status: number): Answer {
  return { status, headers: {}, body: undefined };
}

/** Something was changed; `note` is for people, where there is something to say. */
export function doneAnswer(note: string): Answer {
  return note === "" ? emptyAnswer(STATUS.noContent) : jsonAnswer(STATUS.ok, { note });
}

export function createdAnswer(location: string, name: string, note: string): Answer {
  return jsonAnswer(STATUS.created, note === "" ? { name } : { name, note }, { location });
}
