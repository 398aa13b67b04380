/** Who somebody says to be, by `Authorization: Basic`. */
export interface BasicCredentials {
  readonly user: string;
  readonly token: string;
}

const SCHEME = /^basic +([a-z0-9+/]+=*)$/i;

/** Undefined where the field is something else. */
export function readBasicCredentials(value: string): BasicCredentials | undefined {
  const [, encoded] = SCHEME.exec(value.trim()) ?? [];
  if (encoded === undefined) return undefined;
  const text = Buffer.from(encoded, "base64").toString("utf8");
  const colon = text.indexOf(":");
  return colon < 0 ? undefined : { user: text.slice(0, colon), token: text.slice(colon + 1) };
}

/** The value of the field `Authorization`. */
export function renderBasicCredentials({ user, token }: BasicCredentials): string {
  return `Basic ${Buffer.from(`${user}:${token}`).toString("base64")}`;
}
