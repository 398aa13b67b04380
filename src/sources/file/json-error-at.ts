type State =
  | "value"
  | "item or end"
  | "key or end"
  | "key"
  | "colon"
  | "item next"
  | "key next"
  | "end";
type TokenKind = "{" | "}" | "[" | "]" | ":" | "," | "string" | "literal";

const TOKEN =
  /([{}[\]:,])|("[^"\\\p{Cc}]*(?:\\(?:["\\/bfnrt]|u[\da-fA-F]{4})[^"\\\p{Cc}]*)*")|(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)(?![\w.])/uy;
const SPACE = /[ \t\r\n]*/y;

const ALLOWED: Readonly<Record<State, readonly TokenKind[]>> = {
  value: ["string", "literal", "{", "["],
  "item or end": ["string", "literal", "{", "[", "]"],
  "key or end": ["string", "}"],
  key: ["string"],
  colon: [":"],
  "item next": [",", "]"],
  "key next": [",", "}"],
  end: [],
};

/** Where a text that `JSON.parse` refused ceases to be JSON: the parser itself does not always tell. */
export function jsonErrorAt(text: string): number {
  const open: ("{" | "[")[] = [];
  let state: State = "value";
  let at = 0;
  for (;;) {
    SPACE.lastIndex = at;
    SPACE.test(text);
    at = SPACE.lastIndex;
    TOKEN.lastIndex = at;
    const match = TOKEN.exec(text);
    if (match === null) return at;
    const kind = kindOf(match);
    if (!ALLOWED[state].includes(kind)) return at;
    state = nextState(state, kind, open);
    at += match[0].length;
  }
}

function kindOf([text, mark, string]: RegExpExecArray): TokenKind {
  switch (mark) {
    case "{":
    case "}":
    case "[":
    case "]":
    case ":":
    case ",":
      return mark;
    default:
      return string === text ? "string" : "literal";
  }
}

/** @param open what is open around the token; changed by brackets */
function nextState(state: State, kind: TokenKind, open: ("{" | "[")[]): State {
  switch (kind) {
    case "{":
      open.push(kind);
      return "key or end";
    case "[":
      open.push(kind);
      return "item or end";
    case ":":
      return "value";
    case ",":
      return open.at(-1) === "{" ? "key" : "value";
    case "}":
    case "]":
      open.pop();
      return afterValue(open);
    default:
      return state === "key" || state === "key or end" ? "colon" : afterValue(open);
  }
}

function afterValue(open: readonly string[]): State {
  const around = open.at(-1);
  if (around === undefined) return "end";
  return around === "{" ? "key next" : "item next";
}
