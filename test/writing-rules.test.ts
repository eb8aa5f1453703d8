import { expect, test } from "bun:test";
import { join } from "node:path";
import { Glob } from "bun";

const ROOT = join(import.meta.dir, "..");

/** Names of the older vocabulary, each with the name to use. */
const RETIRED_NAMES: readonly [RegExp, string][] = [
  [/^[Aa]dmissions?$/, "requestContext"],
  [/^Door$|^createDoor$|^DoorParts$/, "Gateway"],
  [/Means$/, "…Dependencies or …Context"],
  [/^[Jj]udge/, "validate…, require… or the result's name"],
  [/^[Rr]efusal$|^FormRefusal$|^refusalOrThrow$/, "rejection"],
  [/^[Ww]henAsked$/, "lazy"],
  [/^Moment$|^MomentField$|^parseMoment$/, "RelativeTime, DateTimeField"],
  [/^(replace|open|end|refresh|mark)Marks?$|^Marking$|^markComponents$/, "cause"],
  [/^[Ss]tanding$|[a-z]Standing$/, "evaluation"],
  [/^(Roster|Agenda|Findings|Watched|Lanes|Waker|Errands|Shares|Pace)$/, "the term of its subject"],
  [/^(Story|storyOf|Teller|TELLERS)$/, "notification"],
  [/AtHome$/, "Stored…"],
  [/Wish$/, "…Plan"],
  [/^createKept|^Kept[A-Z]/, "…Cache"],
  [/^[Ff]urnished|^[Hh]ouses?$|^Workshop$/, "demo data, installation, workspace"],
  [
    /^([Tt]old|[Tt]ell|[Hh]eard|[Aa]new|[Bb]eside|[Jj]udged)$|[a-z]Told$/,
    "the term of its subject",
  ],
  // A complaint is what a recipient of a mail reports.
  [/^complaints[A-Z]/, "error"],
  [/^may[A-Z]/, "can…"],
];

async function readSources(pattern: string): Promise<{ file: string; text: string }[]> {
  const sources: { file: string; text: string }[] = [];
  for await (const file of new Glob(pattern).scan(ROOT)) {
    sources.push({ file, text: await Bun.file(join(ROOT, file)).text() });
  }
  return sources;
}

test("no doc comment starts with a question word", async () => {
  const violations: string[] = [];
  for (const { file, text } of await readSources("{src,test,bench,deploy}/**/*.{ts,tsx}")) {
    const comments = text.matchAll(
      /\/\*\*\s*(?:\*\s*)?((?:What|How|Whether|Where|Who|When|Why|Which)\b.*)/g,
    );
    for (const [, beginning] of comments) violations.push(`${file}: ${beginning}`);
  }
  expect(violations).toEqual([]);
});

test("no identifier is a name of the older vocabulary", async () => {
  const violations = new Set<string>();
  for (const { file, text } of await readSources("{src,test}/**/*.{ts,tsx}")) {
    if (file === "test/writing-rules.test.ts") continue;
    const code = text.replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$|"[^"\n]*"|`[^`]*`/gm, "");
    for (const [name] of code.matchAll(/\b[A-Za-z]\w*\b/g)) {
      const retired = RETIRED_NAMES.find(([pattern]) => pattern.test(name));
      if (retired) violations.add(`${file}: ${name} → ${retired[1]}`);
    }
  }
  expect([...violations]).toEqual([]);
});

test("no test depends on the speed of the machine", async () => {
  const violations: string[] = [];
  for (const { file, text } of await readSources("test/**/*.test.ts")) {
    // Promised times are compared by `expectWithin`, in long runs. Other tests wait for conditions or count.
    const elapsed = text.matchAll(/expect\([^;]*performance\.now\(\)[^;]*\)\.toBeLess\w+\(.*/g);
    const limits = text.matchAll(
      /^ *\}, [12]?\d?\d_000\);|^ *\},\n *[12]?\d?\d_000,\n *\);|setDefaultTimeout\([12]?\d?\d_000\)/gm,
    );
    for (const [line] of [...elapsed, ...limits]) violations.push(`${file}: ${line.trim()}`);
  }
  expect(violations).toEqual([]);
});
