import { bearer } from "@elysiajs/bearer";

/** Returns the token of an `Authorization` header that is `Bearer <token>`. */
export type BearerReader = (authorization: string) => string | undefined;

type PluginReader = (context: {
  query: Record<string, never>;
  headers: { authorization: string };
}) => { bearer: string | undefined };

const NO_QUERY = {};

/**
 * Returns the function with which the bearer plugin reads a request. Used as a plugin, it would run after
 * the body is parsed, and would accept `Bearerabc` and `?access_token=`. Here it gets only a header that
 * was checked before, and no query.
 */
export function createBearerReader(): BearerReader {
  const derive = bearer().event.transform?.[0]?.fn as unknown as PluginReader | undefined;
  if (!derive) throw new Error("the bearer plugin has changed its shape");
  return (authorization) => derive({ query: NO_QUERY, headers: { authorization } }).bearer;
}
