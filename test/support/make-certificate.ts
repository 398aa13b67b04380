import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** A certificate for 127.0.0.1 that vouches for itself, made by a program that is not ours. */
export async function makeCertificate(
  folder: string,
  name: string,
): Promise<{ readonly cert: string; readonly key: string }> {
  const [cert, key] = [join(folder, `${name}.pem`), join(folder, `${name}.key`)];
  const names = ["-subj", `/CN=${name}`, "-addext", "subjectAltName=IP:127.0.0.1"];
  const files = ["-keyout", key, "-out", cert];
  await run("openssl", ["req", "-x509", "-newkey", "rsa:2048", "-nodes", ...names, ...files]);
  return { cert, key };
}
