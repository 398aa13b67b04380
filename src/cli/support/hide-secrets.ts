const HIDDEN = "(hidden)";

/** A key in PEM, also where a text has it with written-out line ends; up to the end where it is cut off. */
const PRIVATE_KEY =
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g;

/** Not longer than names are: a search must not take long in a long text without spaces. */
const SECRET_WORD = "[\\w-]{0,40}(?:password|passphrase|passwd|secret|token|api-?key)";

/** `"token": "..."`, `password: ...`, `PORTOLAN_HTTP_TOKEN=...`; not of what names a file or says yes or no. */
const ASSIGNED = new RegExp(
  `("?${SECRET_WORD}"?\\s*[:=]\\s*)(?!"?(?:true|false|null|\\(hidden\\))\\b)("(?:[^"\\\\]|\\\\.)*"|[^\\s",;}]+)`,
  "gi",
);

/** `Authorization: Bearer ...`, also alone. */
const BEARER = /(\b(?:bearer|basic)\s+)[\w.~+/=-]{6,}/gi;

/** `https://name:password@host`. */
const IN_URL = /(\b[a-z][a-z\d+.-]{0,20}:\/\/[^\s:/@]{1,100}:)[^\s@/]{1,200}(?=@)/gi;

/**
 * A text without what looks like a secret, and without the secrets that are known. It is the last guard:
 * what is put into a bundle is chosen so that there is none.
 */
export function hideSecrets(text: string, known: readonly string[] = []): string {
  let hidden = text
    .replace(PRIVATE_KEY, HIDDEN)
    .replace(ASSIGNED, (_, before: string, value: string) =>
      value.startsWith('"') ? `${before}"${HIDDEN}"` : `${before}${HIDDEN}`,
    )
    .replace(BEARER, `$1${HIDDEN}`)
    .replace(IN_URL, `$1${HIDDEN}`);
  for (const secret of known) if (secret !== "") hidden = hidden.replaceAll(secret, HIDDEN);
  return hidden;
}

const SECRET_VARIABLE = /PASSWORD|PASSPHRASE|SECRET|TOKEN|_KEY$/i;

/** Secrets that the environment holds; short ones would hide half of the text. */
export function secretsOf(
  environment: Readonly<Record<string, string | undefined>>,
): readonly string[] {
  return Object.entries(environment).flatMap(([name, value]) =>
    SECRET_VARIABLE.test(name) && value !== undefined && value.length >= MIN_SECRET_LENGTH
      ? [value]
      : [],
  );
}

const MIN_SECRET_LENGTH = 4;
