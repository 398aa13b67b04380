const DOTTED = /^\d{1,3}(?:\.\d{1,3}){3}(?:\/\d+)?$/;
const LEADING_ZEROS = /\b0+(?=\d)/g;

/**
 * Clusters hold addresses and networks from before Kubernetes refused leading zeros, and read them as decimal:
 * `010.1.2.3` is `10.1.2.3`. What is no such text is given back as it is.
 */
export function decimalIp(value: unknown): unknown {
  if (typeof value !== "string" || !DOTTED.test(value)) return value;
  return value.replace(LEADING_ZEROS, "");
}
