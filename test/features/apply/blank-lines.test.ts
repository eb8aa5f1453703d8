import { describe, expect, test } from "bun:test";
import { readApplyFile } from "../../../src/features/apply/read";
import { writeApplyFile } from "../../../src/features/apply/apply";

/** Texts that YAML has to quote, or whose indentation it cannot derive from a line. */
const TEXTS: Record<string, string> = {
  "a line of one blank in a long text that ends with another":
    "The payment service and everything that it needs\n \n\nSee the wiki\n ",
  "lines of blanks of different lengths":
    "The payment service and all of its friends\n  \n \nend\n  ",
  "a line of one blank in a text with a control character":
    "The payment service\u0085 and everything that it needs\n \n\nend",
  "nothing but blank lines": "\n \n",
  "nothing but blanks and lines, the last one longest": " \n\n   ",
};

describe("descriptions that YAML cannot write plainly", () => {
  for (const [what, description] of Object.entries(TEXTS)) {
    test(`a description with ${what} is read back as it was written`, () => {
      const content = {
        pages: [
          {
            slug: "acme",
            name: "Acme",
            description,
            groups: [{ name: "Core", components: [{ name: "API", description }] }],
          },
        ],
      };
      expect(readApplyFile(writeApplyFile(content, [])).content).toEqual(content);
    });
  }
});
