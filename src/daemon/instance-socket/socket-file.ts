import { chmodSync, linkSync, lstatSync, renameSync, unlinkSync } from "node:fs";

/**
 * The file of a unix socket. It is bound under a name of its own, made private, and only then given
 * the name that others look for: nobody ever finds a socket there that is not ready, and one process
 * takes the place of another without a gap.
 */
export class SocketFile {
  readonly path: string;
  /** Where to listen. */
  readonly boundPath: string;
  #inode: number | undefined;

  constructor(path: string, pid: number) {
    this.path = path;
    this.boundPath = `${path}.${pid}`;
  }

  /** False where the name is taken; `replaces`: it is taken from who has it. */
  publish(options: { readonly replaces: boolean }): boolean {
    chmodSync(this.boundPath, OWNER_ONLY);
    this.#inode = lstatSync(this.boundPath).ino;
    if (options.replaces) {
      renameSync(this.boundPath, this.path);
      return true;
    }
    try {
      linkSync(this.boundPath, this.path);
    } catch (error) {
      if (isCode(error, "EEXIST")) return false;
      throw error;
    }
    unlinkSync(this.boundPath);
    return true;
  }

  /** Unless it is another's by now. */
  remove(): void {
    try {
      if (lstatSync(this.path).ino === this.#inode) unlinkSync(this.path);
    } catch (error) {
      if (!isCode(error, "ENOENT")) throw error;
    }
  }
}

const OWNER_ONLY = 0o600;

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}
