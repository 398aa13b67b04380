import * as z from "zod";
import { isPeerPattern, PEER_PATTERN_FORM } from "./peer-pattern.ts";

export const peerPatternSchema: z.ZodType<string> = z
  .string()
  .refine(isPeerPattern, PEER_PATTERN_FORM);
