/** A file to be put into an archive. */
export interface ArchivedFile {
  /** Below the folder of the archive, with `/` between. */
  readonly name: string;
  readonly text: string;
}

const BLOCK_BYTES = 512;
const MAX_NAME_BYTES = 100;
/** Readable for its owner only. */
const MODE = 0o600;
const REGULAR_FILE = "0";

/** Where the fields of a header begin, and how long they are (POSIX.1-1988, ustar). */
const FIELDS = {
  name: [0, MAX_NAME_BYTES],
  mode: [100, 8],
  uid: [108, 8],
  gid: [116, 8],
  size: [124, 12],
  mtime: [136, 12],
  checksum: [148, 8],
  type: [156, 1],
  magic: [257, 6],
  version: [263, 2],
} as const;

/** A tar archive of the form ustar; all files are of the same time. */
export function writeTar(
  folder: string,
  files: readonly ArchivedFile[],
  modifiedMs: number,
): Buffer {
  const parts = files.flatMap(({ name, text }) => {
    const content = Buffer.from(text);
    const header = headerOf(`${folder}/${name}`, content.length, modifiedMs);
    return [header, content, Buffer.alloc(restOfBlock(content.length))];
  });
  // Two empty blocks end it.
  return Buffer.concat([...parts, Buffer.alloc(2 * BLOCK_BYTES)]);
}

function headerOf(name: string, size: number, modifiedMs: number): Buffer {
  if (Buffer.byteLength(name) > MAX_NAME_BYTES) throw new RangeError(`"${name}" is too long`);
  const header = Buffer.alloc(BLOCK_BYTES);
  const put = (field: keyof typeof FIELDS, text: string): void => {
    const [offset, length] = FIELDS[field];
    header.write(text, offset, length, "utf8");
  };
  const octal = (field: keyof typeof FIELDS, value: number): void =>
    put(field, value.toString(8).padStart(FIELDS[field][1] - 1, "0"));
  put("name", name);
  octal("mode", MODE);
  octal("uid", 0);
  octal("gid", 0);
  octal("size", size);
  octal("mtime", Math.floor(modifiedMs / 1000));
  put("type", REGULAR_FILE);
  put("magic", "ustar\0");
  put("version", "00");
  // Summed up as if the checksum itself were spaces.
  put("checksum", " ".repeat(FIELDS.checksum[1]));
  const sum = header.reduce((total, byte) => total + byte, 0);
  put("checksum", `${sum.toString(8).padStart(6, "0")}\0 `);
  return header;
}

function restOfBlock(bytes: number): number {
  return (BLOCK_BYTES - (bytes % BLOCK_BYTES)) % BLOCK_BYTES;
}
