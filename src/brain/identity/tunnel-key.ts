const KEY_BYTES = 32;
const FORM = /^[A-Za-z0-9+/]{43}=$/;

/** Whether it is the public key of a tunnel as WireGuard writes it: 32 bytes in base64, not all zero. */
export function isTunnelKey(text: string): boolean {
  if (!FORM.test(text)) return false;
  const bytes = Buffer.from(text, "base64");
  return (
    bytes.length === KEY_BYTES &&
    bytes.toString("base64") === text &&
    bytes.some((byte) => byte !== 0)
  );
}
