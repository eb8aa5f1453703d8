/*
 * CSS that people write for a page: `safeCss` returns the part of it that is sent. It styles the content of the page and
 * nothing else: lines about delayed and copied pages stay outside, so that no rule hides or covers them, and nothing is
 * loaded from other hosts.
 *
 * The content is one element, `.own`, which clips what is in it. Each selector is made one of elements in it. Rules for
 * `html`, `:root` and `body` become rules for the element itself, with properties that cannot move it or paint outside of
 * it. What is not known to be harmless is cut.
 */
import type {
  Atrule,
  Block,
  CssNode,
  Declaration,
  generate as Generate,
  List,
  parse as Parse,
  Raw,
  Rule,
  Selector,
  SelectorList,
  walk as Walk,
} from "css-tree";
import { lazy } from "../../base/lazy";

/** Class of the element with the content of a page that has CSS of its own. */
export const OWN_CLASS = "own";

/** CSS as it is sent, and what was cut. */
interface SafeCss {
  css: string;
  /** Each part that was cut, with its line, such as "line 3: @import"; at most `CUT_MAX`. */
  cut: string[];
}

const CUT_MAX = 20;
/** Length of the quoted beginning of a part that was cut, in UTF-16 units. */
const QUOTED_MAX = 60;

const AT_RULES: ReadonlySet<string> = new Set(["media", "supports", "container", "keyframes"]);

/** Properties that start the page at another place, run programs in old browsers, or leave the element. */
const FORBIDDEN_PROPERTY =
  /^(?:-webkit-|-moz-)?(?:scroll-|overscroll-|binding$|behavior$|overlay$)/;

const PROPERTY = /^(?:-?[a-z][a-z0-9-]*|--[\w-]+)$/i;

/** Properties of the element with the content. None moves or hides it, or paints outside of it. */
const OWN_PROPERTY =
  /^(?:--.+|color|color-scheme|accent-color|caret-color|background(?:-.+)?|font(?:-.+)?|line-height|letter-spacing|word-spacing|word-break|overflow-wrap|hyphens|tab-size|text-(?:align|wrap|transform|rendering|indent|shadow|decoration(?:-.+)?|underline-.+)|-webkit-font-smoothing|cursor|quotes)$/;

/** Functions of values. None loads anything. */
const FUNCTIONS: ReadonlySet<string> = new Set(
  `var env calc min max clamp round mod rem abs sign sin cos tan asin acos atan atan2 pow sqrt hypot log exp
  rgb rgba hsl hsla hwb lab lch oklab oklch color color-mix light-dark
  linear-gradient radial-gradient conic-gradient repeating-linear-gradient repeating-radial-gradient
  repeating-conic-gradient cubic-bezier steps linear
  translate translatex translatey translatez translate3d scale scalex scaley scalez scale3d rotate rotatex rotatey
  rotatez rotate3d skew skewx skewy matrix matrix3d perspective
  blur brightness contrast drop-shadow grayscale hue-rotate invert opacity saturate sepia
  minmax repeat fit-content attr counter counters inset circle ellipse polygon rect xywh`.split(
    /\s+/,
  ),
);

/** Pictures that are part of the CSS. */
const OWN_PICTURE = /^data:image\/(?:png|jpeg|gif|webp|avif|svg\+xml)[;,]/i;

/** Element and pseudo-class that contain all of the page. */
const ROOTS: ReadonlySet<string> = new Set(["html", "body", "root"]);

interface CssTree {
  parse: typeof Parse;
  generate: typeof Generate;
  walk: typeof Walk;
}

// Loaded when CSS is saved, without the tables of all properties.
const cssTree = lazy((): CssTree => ({
  parse: require("css-tree/parser"),
  generate: require("css-tree/generator"),
  walk: require("css-tree/walker"),
}));

/** Returns the part of a style sheet that is sent, with what was cut. CSS that cannot be read is cut as a whole. */
export function safeCss(written: string): SafeCss {
  const { parse, generate } = cssTree();
  // HTML makes other line breaks of these, after which the style would have another hash. css-tree reads byte order marks as
  // names and writes none, so that nothing would stand after a combinator. At the end, a backslash would escape what closes
  // the last rule.
  const source = written
    .replace(/\r\n?|\f/g, "\n")
    .replace(/[\uFEFF\uFFFE]/g, "")
    .replace(/\\+$/, "");
  const cut: string[] = [];
  try {
    forgetTokens(source.length);
    const sheet = parse(source, { positions: true, parseCustomProperty: true });
    if (sheet.type === "StyleSheet") cutRules(sheet.children, { source, cut });
    return { css: withoutTags(generate(sheet)), cut };
  } catch (error) {
    // Thousands of nested brackets.
    if (!(error instanceof RangeError)) throw error;
    return { css: "", cut: ["all of it (is nested too deeply)"] };
  }
}

/**
 * Clears the buffer in which css-tree keeps the tokens of one text for the next. For a text of n characters it reads entry n
 * before it writes it: with an opening bracket of an earlier text there, it takes brackets for pairs that are none, and can
 * go round forever. Semicolons have no pairs.
 */
function forgetTokens(length: number): void {
  cssTree().parse(";".repeat(length), { context: "declarationList" });
}

/** Escapes what could end the element of the style sheet, or begin a comment of HTML. Only texts can have it. */
function withoutTags(css: string): string {
  return css.replace(/<(?=[!/])/g, "\\3c ");
}

interface Cutting {
  source: string;
  cut: string[];
}

/** Notes a part that is cut. */
function note({ source, cut }: Cutting, { loc }: CssNode, reason: string): void {
  if (cut.length >= CUT_MAX) return;
  const text = loc ? source.slice(loc.start.offset, loc.end.offset).replace(/\s+/g, " ") : "";
  const quoted = text.length > QUOTED_MAX ? `${text.slice(0, QUOTED_MAX)}…` : text;
  cut.push(`line ${loc?.start.line ?? 1}: ${quoted} (${reason})`);
}

/** Cuts the rules of a list that are not safe, and rewrites the selectors of all others. */
function cutRules(rules: List<CssNode>, cutting: Cutting): void {
  rules.forEach((rule, item) => {
    const reason: string | undefined =
      rule.type === "Rule"
        ? cutRule(rule, cutting)
        : rule.type === "Atrule"
          ? cutAtrule(rule, cutting)
          : rule.type === "Comment"
            ? ""
            : "is not a rule";
    if (reason !== undefined && reason !== "") note(cutting, rule, reason);
    if (reason !== undefined || isEmpty(rule)) rules.remove(item);
  });
}

/** Returns true for a rule of which nothing is left. */
function isEmpty(rule: CssNode): boolean {
  return (rule.type === "Rule" || rule.type === "Atrule") && rule.block?.children.isEmpty === true;
}

/** Returns the reason for which an at-rule is cut; undefined for one that stays. */
function cutAtrule(rule: Atrule, cutting: Cutting): string | undefined {
  if (!AT_RULES.has(rule.name)) return `@${rule.name} is not used`;
  if (!rule.block || !rule.prelude) return "is incomplete";
  if (problemOf(rule.prelude)) return "has a condition that cannot be read";
  if (rule.name === "keyframes") {
    for (const frame of rule.block.children) {
      if (frame.type !== "Rule" || problemOf(frame.prelude))
        return "has a frame that cannot be read";
      cutDeclarations(frame.block, cutting, () => undefined);
    }
    return undefined;
  }
  cutRules(rule.block.children, cutting);
  return undefined;
}

/** Returns the reason for which a rule is cut; undefined for one that stays, at least in part. */
function cutRule(rule: Rule, cutting: Cutting): string | undefined {
  const { prelude, block } = rule;
  if (prelude.type !== "SelectorList" || problemOf(prelude))
    return "has a selector that cannot be read";
  const scoped = scopeSelectors(prelude);
  if (scoped === undefined) return "has a selector that cannot be used here";
  const { hasRoot, hasContent } = scoped;
  if (hasRoot && hasContent) return "mixes the whole page with parts of it; write two rules";
  cutDeclarations(block, cutting, (property) =>
    hasRoot && !OWN_PROPERTY.test(property)
      ? "not for the whole page; name a part of it, such as main"
      : undefined,
  );
  return undefined;
}

/** Cuts the declarations of a block that are not safe, and all rules in it. */
function cutDeclarations(
  { children }: Block,
  cutting: Cutting,
  furtherReason: (property: string) => string | undefined,
): void {
  children.forEach((node, item) => {
    const reason =
      node.type === "Declaration"
        ? (declarationProblem(node) ?? furtherReason(node.property.toLowerCase()))
        : node.type === "Comment"
          ? ""
          : "is a rule in a rule";
    if (reason === undefined) return;
    if (reason !== "") note(cutting, node, reason);
    children.remove(item);
  });
}

function declarationProblem({ property, value }: Declaration): string | undefined {
  if (!PROPERTY.test(property)) return "has a property that cannot be read";
  const name = property.toLowerCase();
  if (FORBIDDEN_PROPERTY.test(name)) return "is not used";
  // A picture at the pointer is painted outside of the element, also one of a custom property.
  if (name === "cursor" && !consistsOfNames(value)) return "is not the name of a cursor";
  return problemOf(value);
}

function consistsOfNames(value: Declaration["value"]): boolean {
  return (
    value.type === "Value" && value.children.toArray().every(({ type }) => type === "Identifier")
  );
}

/** Returns the reason for which a value, a selector or a condition is not safe; undefined for a safe one. */
function problemOf(node: CssNode | Raw): string | undefined {
  let problem: string | undefined;
  cssTree().walk(node, (part) => {
    switch (part.type) {
      case "Raw":
        problem ??= "cannot be read";
        break;
      case "Url":
        if (!OWN_PICTURE.test(part.value)) problem ??= "loads a file";
        break;
      case "Function":
        if (!FUNCTIONS.has(part.name.toLowerCase())) problem ??= `${part.name}() is not used`;
        break;
      case "NestingSelector":
        problem ??= "is a rule in a rule";
    }
  });
  return problem;
}

/**
 * Makes each selector of a list one of elements in the content, or of the content itself for one of the whole page. Returns
 * which kinds there are; undefined if one of them has a combinator without an element on each side.
 */
function scopeSelectors(list: SelectorList): { hasRoot: boolean; hasContent: boolean } | undefined {
  const found = { hasRoot: false, hasContent: false };
  for (const selector of list.children) {
    if (selector.type !== "Selector") return undefined;
    const isRoot = scopeSelector(selector);
    if (isRoot === undefined) return undefined;
    if (isRoot) found.hasRoot = true;
    else found.hasContent = true;
  }
  return found;
}

/** Returns true for a selector of the whole page; undefined for one in which a combinator lacks an element on a side. */
function scopeSelector(selector: Selector): boolean | undefined {
  const compounds: CssNode[][] = [[]];
  for (const node of selector.children) {
    if (node.type === "Combinator") compounds.push([node]);
    else compounds.at(-1)?.push(node);
  }
  const isRootCompound = (nodes: readonly CssNode[]) =>
    nodes.some(
      (node) =>
        (node.type === "TypeSelector" && ROOTS.has(node.name.toLowerCase())) ||
        (node.type === "PseudoClassSelector" && node.name.toLowerCase() === "root"),
    );
  // All compounds but the first begin with their combinator. css-tree reads those of which nothing follows.
  if (compounds.some(({ length }, index) => length < (index === 0 ? 1 : 2))) return undefined;
  let count = 0;
  while (count < compounds.length && isRootCompound(compounds[count] ?? [])) count += 1;
  const [first, ...rest] = compounds.slice(count);
  const nodes = compounds.slice(0, count).flat();
  if (count > 0) nodes.push(DESCENDANT);
  nodes.push({ type: "ClassSelector", name: OWN_CLASS });
  if (first) {
    // Its combinator leads from the whole page to a part, so that any place in the content is right.
    nodes.push(DESCENDANT, ...first.filter(({ type }) => type !== "Combinator"), ...rest.flat());
  }
  selector.children.clear();
  for (const node of nodes) selector.children.appendData(node);
  return first === undefined;
}

const DESCENDANT: CssNode = { type: "Combinator", name: " " };
