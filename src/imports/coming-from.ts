import { PRODUCTS } from "../base/import-report";
import { findImportSource } from "../base/import-sources";
import type { Chapter, Row } from "./chapter";
import { gatus } from "./coming-from/gatus";
import { healthchecks } from "./coming-from/healthchecks";
import { statuspage } from "./coming-from/statuspage";
import { uptimeKuma } from "./coming-from/uptime-kuma";

/** Chapters about the products from which this version imports. */
export const CHAPTERS: readonly Chapter[] = [uptimeKuma, gatus, statuspage, healthchecks].filter(
  ({ kind }) => findImportSource(kind) !== undefined,
);

/** Part of a document, in the order of reading. Texts may have `code`, and no other markup. */
export type Block =
  | { kind: "heading"; level: 1 | 2 | 3; text: string }
  | { kind: "text"; text: string }
  | { kind: "steps"; steps: readonly { text: string; code?: string | undefined }[] }
  | { kind: "points"; points: readonly string[] }
  | { kind: "table"; head: Row; rows: readonly Row[] };

/** Returns the documentation for people who come from another product, a chapter for each. */
export function comingFrom(chapters: readonly Chapter[] = CHAPTERS): Block[] {
  return [
    { kind: "heading", level: 1, text: "Coming from another product" },
    {
      kind: "text",
      text: "`allclear import` moves what you have, and only reads the source, which can go on running. Each object of the source ends in the report with one result. Nothing is left out silently, nobody is notified, and the same command again changes only what has changed in the source.",
    },
    ...chapters.flatMap(blocksOf),
  ];
}

function blocksOf(chapter: Chapter): Block[] {
  const product = PRODUCTS[chapter.kind];
  return [
    { kind: "heading", level: 2, text: product },
    { kind: "text", text: chapter.summary },
    { kind: "heading", level: 3, text: `${product} side by side` },
    { kind: "table", head: [product, "here"], rows: chapter.concepts },
    { kind: "heading", level: 3, text: `From ${product} step by step` },
    { kind: "steps", steps: stepsOf(chapter, product) },
    { kind: "heading", level: 3, text: `What differs from ${product}` },
    { kind: "points", points: chapter.differences },
    ...chapter.tables.flatMap(({ title, head = [product, "here"], rows }): Block[] => [
      { kind: "heading", level: 3, text: title },
      { kind: "table", head, rows },
    ]),
  ];
}

function stepsOf({ copy, command, canPause, compare, move, stop }: Chapter, product: string) {
  return [
    { text: `Copy. ${copy.text}`, code: copy.code },
    {
      text: "Read the plan. It is the import itself, which is rolled back, and it lists what to do.",
      code: `${command} --dry-run`,
    },
    {
      text: canPause
        ? `Import. With \`--paused\`, monitors and webhooks are switched off, so that ${product} alone checks and notifies. \`import start\` with the id of the report switches them on.`
        : "Import. It can be repeated until the move.",
      code: canPause ? `${command} --paused` : command,
    },
    { text: `Compare. ${compare}` },
    { text: `Move the name. ${move.text}`, code: move.code },
    { text: `Stop ${product}. ${stop}` },
  ];
}

/** Returns the documentation for people who come from another product. The code of importers is loaded here. */
export async function readComingFrom(): Promise<Block[]> {
  const { comingFrom } = await import("./coming-from");
  return comingFrom();
}
