import { fileURLToPath } from "node:url";

const BUILD = fileURLToPath(new URL("../../../../dist", import.meta.url));

/** The program as it is shipped. */
export const PORTOLAN: readonly string[] = [process.execPath, `${BUILD}/cli/main.js`];

export interface LbPlace {
  readonly port: number;
  /** One where it is missing. */
  readonly threads?: number;
  /** Folder of another build. */
  readonly build?: string | undefined;
}

/** `portolan lb` as it is shipped. */
export function portolanLb(
  { port, threads = 1, build = BUILD }: LbPlace,
  ...args: readonly string[]
): readonly string[] {
  const listen = ["--listen", `127.0.0.1:${port}`, "--loops", String(threads)];
  return [process.execPath, `${build}/cli/main.js`, "lb", ...listen, ...args];
}
