import { CoreError, type ErrorCode } from "../../core/errors.ts";
import { formatPath, type Problem } from "../../core/model/problems.ts";
import { type Answer, jsonAnswer, STATUS } from "./answer.ts";

/** What a request that is not granted is answered with, as JSON. */
interface RefusalBody {
  readonly code: ErrorCode;
  readonly message: string;
  readonly problems: readonly ProblemBody[];
  /** Under which the log has it, where it is a fault of the instance. */
  readonly errId?: string;
}

interface ProblemBody {
  /** `ports[0].port` */
  readonly path: string;
  readonly value: string;
  readonly expected: string;
}

type Headers = Readonly<Record<string, string>>;

/** Refuses for a reason that is only known to HTTP; thrown, so that it ends the request anywhere. */
export class HttpRefusal extends CoreError {
  readonly answer: Answer;

  constructor(status: number, code: ErrorCode, message: string, headers: Headers = {}) {
    super(code, message);
    this.answer = refusalAnswer(status, { code, message, problems: [] }, headers);
  }
}

const STATUS_OF_CODE: Readonly<Partial<Record<ErrorCode, number>>> = {
  ERR_USAGE: STATUS.badRequest,
  ERR_CONFIG_INVALID: STATUS.badRequest,
  ERR_STATE_INVALID: STATUS.badRequest,
  ERR_STATE_TOO_LARGE: STATUS.badRequest,
  ERR_STATE_UNREADABLE: STATUS.badRequest,
  ERR_UNAUTHORIZED: STATUS.unauthorized,
  ERR_REFUSED: STATUS.forbidden,
  ERR_NOT_FOUND: STATUS.notFound,
  ERR_KEY_TAKEN: STATUS.conflict,
  ERR_ADDRESS_TAKEN: STATUS.conflict,
  ERR_IN_USE: STATUS.conflict,
  ERR_NOT_OURS: STATUS.conflict,
  ERR_LISTEN: STATUS.conflict,
  ERR_NOT_POSSIBLE_HERE: STATUS.notPossible,
  ERR_JOURNAL: STATUS.unavailable,
  ERR_LOOP_ENDED: STATUS.unavailable,
  ERR_ABORTED: STATUS.unavailable,
};

/** The answer to what a command threw; undefined where it is a fault of the instance. */
export function answerToRefused(error: unknown): Answer | undefined {
  if (error instanceof HttpRefusal) return error.answer;
  if (!(error instanceof CoreError)) return undefined;
  const status = STATUS_OF_CODE[error.code];
  if (status === undefined) return undefined;
  const { code, message } = error;
  return refusalAnswer(status, { code, message, problems: error.problems.map(showProblem) });
}

/** The answer to a fault; what it was stands in the log alone. */
export function answerToFault(error: unknown, errId: string): Answer {
  const code = error instanceof CoreError ? error.code : "ERR_INSTANCE";
  const said = error instanceof CoreError ? error.message : "the instance could not do it";
  const message = `${said}; the log has more under errId ${errId}`;
  return refusalAnswer(STATUS.failed, { code, message, problems: [], errId });
}

function refusalAnswer(status: number, body: RefusalBody, headers: Headers = {}): Answer {
  return jsonAnswer(status, body, headers);
}

function showProblem({ path, fault, value, expected }: Problem): ProblemBody {
  // What is missing has no value, so that its fault takes the place.
  return { path: formatPath(path), value: value === "" ? `(${fault})` : value, expected };
}
