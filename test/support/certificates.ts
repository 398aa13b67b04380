import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { generate } from "selfsigned";

export interface CertificateFiles {
  readonly caFile: string;
  readonly certFile: string;
  readonly keyFile: string;
}

/** An authority, and a certificate of it for 127.0.0.1 and localhost, as files. */
export async function makeCertificates(folder: string, name: string): Promise<CertificateFiles> {
  const common = { algorithm: "sha256", keyType: "ec" } as const;
  const authority = await generate([{ name: "commonName", value: `${name} authority` }], {
    ...common,
    extensions: [{ name: "basicConstraints", cA: true, critical: true }],
  });
  const issued = await generate([{ name: "commonName", value: name }], {
    ...common,
    ca: { key: authority.private, cert: authority.cert },
    extensions: [
      {
        name: "subjectAltName",
        altNames: [
          { type: 7, ip: "127.0.0.1" },
          { type: 2, value: "localhost" },
        ],
      },
    ],
  });
  const file = async (kind: string, pem: string) => {
    const path = join(folder, `${name}-${kind}.pem`);
    await writeFile(path, pem);
    return path;
  };
  return {
    caFile: await file("ca", authority.cert),
    certFile: await file("cert", issued.cert),
    keyFile: await file("key", issued.private),
  };
}
