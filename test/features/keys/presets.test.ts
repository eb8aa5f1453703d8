import { expect, test } from "bun:test";
import { validateNewKey } from "../../../src/features/keys/keys";
import { KEY_PRESETS } from "../../../src/features/keys/scopes";
import { TEST_START } from "../../support/clock";

test("each key preset creates a valid key with its scopes", () => {
  expect(KEY_PRESETS.map(({ name, scopes }) => [name, ...scopes])).toEqual([
    ["CI incident bot", "write:incidents", "write:components", "read:status"],
    ["Read-only dashboard", "read:status"],
    ["Monitoring as code", "manage:monitors", "read:status"],
    ["Prometheus scrape", "read:analytics"],
  ]);
  expect(new Set(KEY_PRESETS.map(({ id }) => id)).size).toBe(KEY_PRESETS.length);
  for (const { id, name, scopes, sentence } of KEY_PRESETS) {
    const body = { name, scopes: [...scopes] };
    expect(validateNewKey(body, TEST_START)).toEqual(body as never);
    expect(id).toMatch(/^[a-z-]+$/);
    expect(sentence).toMatch(/^[A-Z].*\.$/);
  }
});
