import type { DnsQuery } from "./dns-query.ts";
import { renderOption } from "./dns-reply.ts";
import { FLAG_CHECKING_DISABLED, FLAG_RECURSION_DESIRED, HEADER_BYTES } from "./dns-words.ts";

const QUESTION_COUNT_AT = 4;
const ADDITIONAL_COUNT_AT = 10;

/** The same question for a resolver, under another id. */
export function renderDnsRequest(query: DnsQuery, id: number): Buffer {
  const { question, extension, disablesChecking } = query;
  const parts = [Buffer.alloc(HEADER_BYTES), question.bytes];
  if (extension !== undefined) parts.push(renderOption("NOERROR", extension.wantsSignatures));
  const bytes = Buffer.concat(parts);
  bytes.writeUInt16BE(id, 0);
  bytes.writeUInt16BE(FLAG_RECURSION_DESIRED | (disablesChecking ? FLAG_CHECKING_DISABLED : 0), 2);
  bytes.writeUInt16BE(1, QUESTION_COUNT_AT);
  bytes.writeUInt16BE(extension === undefined ? 0 : 1, ADDITIONAL_COUNT_AT);
  return bytes;
}
