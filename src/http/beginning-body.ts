import { Type } from "@sinclair/typebox";
import { readBeginning } from "./body";
import { hideSchema } from "./declared-body";
import { incomingBodyOf } from "./incoming-body";
import { splitUrl } from "./split-url";

const NOTHING = new Uint8Array();

/**
 * Declares that a route reads the first `maxBytes` of a body of any media type and ignores the rest:
 * spread into its options. A slow body counts as ended. With the query parameter `instead`, none is read.
 */
export function beginningOf(maxBytes: number, { instead }: { instead: string }) {
  const schema = Type.Unsafe<Uint8Array>({ type: "string" });
  return {
    body: hideSchema({ schema, isOptional: true, beginningBytes: maxBytes }),
    parse: async ({ request }: { request: Request }) => {
      const { query = "" } = splitUrl(request.url) ?? {};
      if (!new URLSearchParams(query).has(instead)) return readBeginning(request, maxBytes);
      const incoming = incomingBodyOf(request);
      if (incoming) incoming.isUnread = true;
      return NOTHING;
    },
  };
}
