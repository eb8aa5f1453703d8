import { afterAll } from "bun:test";

/**
 * Returns a function for the one installation that the tests of a block use, created by its first
 * call. For tests of requests that change nothing, or whose changes do not concern the others.
 */
export function shareSite<Site extends AsyncDisposable>(
  create: () => Site | Promise<Site>,
): () => Promise<Site> {
  let site: Promise<Site> | undefined;
  afterAll(async () => (await site)?.[Symbol.asyncDispose]());
  return () => (site ??= Promise.resolve(create()));
}
