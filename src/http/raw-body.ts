import type { Static, TSchema } from "@sinclair/typebox";
import { examine } from "../base/validation";
import { decodeText, readBytes } from "./body";
import { declareBody, isOfType } from "./declared-body";
import { parseJson } from "./json-body";

/**
 * Declares a body of at most `maxBytes` that is JSON, or bytes of another media type: spread into the options of
 * a route.
 */
export function jsonOrRawBody<Schema extends TSchema>(
  schema: Schema,
  { mediaType, maxBytes }: { mediaType: string; maxBytes: number },
) {
  return declareBody<Static<Schema> | Uint8Array>({
    schema,
    isOptional: false,
    maxBytes,
    rawMediaType: mediaType,
    async read(request) {
      const bytes = await readBytes(request, maxBytes);
      return isOfType(request.headers, mediaType) ? bytes : parseJson(decodeText(bytes));
    },
    validate(body) {
      if (!(body instanceof Uint8Array)) examine(schema, body).errors.throwIfAny();
    },
  });
}
