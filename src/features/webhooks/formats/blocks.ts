import { clean, largestCount } from "./clean";

/*
 * A text as blocks of spans, without markup. Markdown is read into blocks, blocks can be cut
 * anywhere, and each format writes them in its own markup.
 */

export type Style = "bold" | "italic" | "strike" | "code";

export interface Span {
  /** Clean text, which may contain line feeds; for a link its address. */
  text: string;
  styles: readonly Style[];
  /** Address of a link. `text` is the same, so that a link shows where it leads. */
  href?: string;
}

export interface Block {
  kind: "paragraph" | "heading" | "code" | "rule";
  /** Marker of a list entry: "•" or "3."; empty outside lists. */
  marker: string;
  /** Number of lists around it. */
  depth: number;
  isQuoted: boolean;
  spans: readonly Span[];
}

const ELLIPSIS: Span = { text: "…", styles: [] };

/** Returns a paragraph of spans; plain texts are cleaned. */
export function paragraph(...parts: (string | Span)[]): Block {
  return { kind: "paragraph", marker: "", depth: 0, isQuoted: false, spans: parts.map(toSpan) };
}

/** Returns an entry of a list. */
export function entry(...parts: (string | Span)[]): Block {
  return { ...paragraph(...parts), marker: "•", depth: 1 };
}

export function bold(text: string): Span {
  return { text: clean(text), styles: ["bold"] };
}

function toSpan(part: string | Span): Span {
  return typeof part === "string" ? { text: clean(part), styles: [] } : part;
}

/**
 * Writes as much of the blocks as fits, cut between characters and never within an address, with an
 * ellipsis for the missing part. If `fits` accepts an output, it must accept the output of fewer
 * characters.
 */
export function fitted<T>(
  blocks: readonly Block[],
  write: (blocks: readonly Block[]) => T,
  fits: (written: T) => boolean,
): T {
  const whole = write(blocks);
  if (fits(whole)) return whole;
  const beginning = (length: number) => write(beginningOf(blocks, length));
  return beginning(largestCount(lengthOf(blocks), (length) => fits(beginning(length))));
}

/** Parts of a message in their order. */
interface MessageParts {
  facts: readonly Block[];
  body: readonly Block[];
  components: readonly Block[];
}

/**
 * Writes as much of a message as fits. The body is cut first, then the list of components, whose names can grow when
 * they are escaped, then the facts.
 */
export function fittedMessage<T>(
  { facts, body, components }: MessageParts,
  write: (blocks: readonly Block[]) => T,
  fits: (written: T) => boolean,
): T {
  const cuts = [
    () => fitted(body, (part) => write([...facts, ...part, ...components]), fits),
    () => fitted(components, (part) => write([...facts, ...part]), fits),
  ];
  for (const cut of cuts) {
    const written = cut();
    if (fits(written)) return written;
  }
  return fitted(facts, write, fits);
}

function lengthOf(blocks: readonly Block[]): number {
  let length = 0;
  for (const { spans } of blocks) for (const { text } of spans) length += text.length;
  return length;
}

/** Returns the first `length` UTF-16 units of the blocks, with an ellipsis; nothing for 0. */
function beginningOf(blocks: readonly Block[], length: number): Block[] {
  let left = length;
  const kept: Block[] = [];
  for (const block of blocks) {
    if (left <= 0) break;
    const spans: Span[] = [];
    for (const span of block.spans) {
      if (left >= span.text.length) spans.push(span);
      else if (span.href === undefined) spans.push({ ...span, text: span.text.slice(0, left) });
      left -= span.text.length;
      if (left <= 0) break;
    }
    kept.push({ ...block, spans });
  }
  const last = kept.pop();
  return last ? [...kept, withEllipsis(last)] : [];
}

/** Returns the block with an ellipsis at its end, without half of a surrogate pair. */
export function withEllipsis(block: Block): Block {
  const spans = [...block.spans];
  const end = spans.pop();
  if (end === undefined || end.href !== undefined) {
    return { ...block, spans: [...block.spans, ELLIPSIS] };
  }
  const text = `${end.text.replace(/[\ud800-\udbff]$/, "").trimEnd()}…`;
  return { ...block, spans: [...spans, { ...end, text }] };
}
