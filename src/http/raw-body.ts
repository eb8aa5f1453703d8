import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { examine } from "../base/validation";
import { decodeText, readBytes } from "./body";
import { hideSchema, isOfType } from "./declared-body";
import { parseJson } from "./json-body";

/**
 * Declares a body of at most `maxBytes` that is JSON, or bytes of another media type: spread into the options of
 * a route.
 */
export function jsonOrRawBody<Schema extends TSchema>(
  schema: Schema,
  { mediaType, maxBytes }: { mediaType: string; maxBytes: number },
) {
  const declared = hideSchema({ schema, isOptional: false, maxBytes, rawMediaType: mediaType });
  return {
    body: Type.Unsafe<Static<Schema> | Uint8Array>(declared),
    parse: async ({ request }: { request: Request }): Promise<unknown> => {
      const bytes = await readBytes(request, maxBytes);
      return isOfType(request.headers, mediaType) ? bytes : parseJson(decodeText(bytes));
    },
    beforeHandle({ body }: { body: unknown }): void {
      if (!(body instanceof Uint8Array)) examine(schema, body).errors.throwIfAny();
    },
  };
}
