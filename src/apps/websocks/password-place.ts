const VARIABLE = "PORTOLAN_WEBSOCKS_PASSWORD";

/**
 * Where the password is, as objects say it.
 * @param problems gets what is wrong, in words
 */
export function passwordPlace(
  passwordFile: string | undefined,
  environment: Readonly<Record<string, string | undefined>>,
  problems: string[],
): string {
  if (passwordFile !== undefined) return passwordFile;
  if ((environment[VARIABLE] ?? "") === "") {
    problems.push(`--password-file: missing; expected it, or the password in ${VARIABLE}`);
  }
  return `env:${VARIABLE}`;
}
