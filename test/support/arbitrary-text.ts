import type { TSchema } from "@sinclair/typebox";
import fc from "fast-check";
import { schemaErrors } from "../../src/base/validation";

// Texts with a meaning in YAML at the beginning, at the end or within a value.
const AWKWARD = [
  ..."abcXYZ019 \t\n\r:#-?'\"`&*!|>%@{}[],~=<.\\/_+é🎉",
  ..."\u0001\u0085\u200e\u2028\u2029\ufeff\ud800",
  ": ",
  " #",
  "- ",
  "---\n",
  "...\n",
  "\n\n",
  "  ",
  "null",
  "yes",
  "2026-01-01",
  "0x1f",
  "${A}",
];

/** Generates texts that a schema accepts. */
export function textOf(schema: TSchema, maxLength: number): fc.Arbitrary<string> {
  return fc
    .string({ unit: fc.constantFrom(...AWKWARD), maxLength })
    .filter((text) => schemaErrors(schema, text).length === 0);
}
