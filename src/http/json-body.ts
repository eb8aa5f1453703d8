import type { TSchema } from "@sinclair/typebox";
import { Problem } from "../errors";
import { decodeText, readBytes } from "./body";
import { keepBodyHash } from "./body-hash";

/** Deeper nesting than any body of the API has; it keeps recursive readers off hostile input. */
const DEPTH_MAX = 32;

/**
 * Declares a route's JSON body: spread into its options. The reading is declared with each route that
 * has a body, since one parser for all would make Elysia run the routes without one asynchronously.
 */
export function jsonBody<Schema extends TSchema>(schema: Schema) {
  return {
    body: schema,
    parse: ({ request }: { request: Request }) => readJsonBody(request),
  };
}

/** Reads a JSON body. Throws a Problem for any other. */
async function readJsonBody(request: Request): Promise<unknown> {
  const bytes = await readBytes(request);
  keepBodyHash(request, bytes);
  const text = decodeText(bytes);
  if (nestsTooDeep(text)) {
    throw new Problem("invalid_request", `The body nests deeper than ${DEPTH_MAX} levels.`);
  }
  try {
    return JSON.parse(text);
  } catch {
    throw new Problem("invalid_request", "The body is not valid JSON.");
  }
}

/** Counts brackets outside strings, without recursion. */
function nestsTooDeep(text: string): boolean {
  let depth = 0;
  let isInString = false;
  for (let i = 0; i < text.length; i++) {
    const char = text.charCodeAt(i);
    if (isInString) {
      if (char === 0x5c) i += 1;
      else if (char === 0x22) isInString = false;
    } else if (char === 0x22) isInString = true;
    else if (char === 0x5b || char === 0x7b) {
      if (++depth > DEPTH_MAX) return true;
    } else if (char === 0x5d || char === 0x7d) depth -= 1;
  }
  return false;
}
