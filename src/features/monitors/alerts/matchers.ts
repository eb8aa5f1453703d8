/* Matchers of labels, as in Alertmanager: `service="checkout"`, `severity=~"critical|page"`. */
import type { Labels } from "../../../db/tables/alerts";
import { parsePattern, patternProblem } from "../assertions/pattern";

const OPERATORS = ["=", "!=", "=~", "!~"] as const;
type Operator = (typeof OPERATORS)[number];

/** A matcher whose expression is not compiled yet. */
interface Matcher {
  name: string;
  operator: Operator;
  value: string;
}

/** Name, operator and value; both can be quoted, and a name with other characters must be. */
const MATCHER =
  /^\s*([A-Za-z_:][\w:]*|"(?:[^"\\]|\\.)+")\s*(=~|!~|!=|=)\s*("(?:[^"\\]|\\.)*"|[^\s"'`,{}!=~]+)\s*$/u;

/** Parses a matcher; undefined for another text. */
function parseMatcher(text: string): Matcher | undefined {
  const [, name, operator, value] = MATCHER.exec(text) ?? [];
  if (name === undefined || operator === undefined || value === undefined) return undefined;
  return { name: unquoted(name), operator: operator as Operator, value: unquoted(value) };
}

/** Returns a quoted text without its quotation marks and escapes; other text as it is. Any other backslash stays. */
function unquoted(text: string): string {
  if (!text.startsWith('"')) return text;
  return text
    .slice(1, -1)
    .replace(/\\(["\\n])/gu, (_, character) => (character === "n" ? "\n" : character));
}

/** Returns a regular expression that a whole value must match. */
const anchored = (source: string) => `^(?:${source})$`;

/** Returns the error of a matcher, as the end of a sentence. */
export function matcherProblem(text: string): string | undefined {
  const matcher = parseMatcher(text);
  if (!matcher)
    return 'must be a label, =, !=, =~ or !~, and a value, such as severity=~"critical|page"';
  if (!matcher.operator.endsWith("~")) return undefined;
  // Parentheses that are not balanced would evade the anchors.
  return patternProblem(matcher.value) ?? patternProblem(anchored(matcher.value));
}

/** Returns true if labels fulfil all of some matchers. A missing label is empty. */
type MatchesLabels = (labels: Labels) => boolean;

/** Alerts of Grafana about its own data sources: they match only where a matcher names them. */
const OF_GRAFANA_ITSELF: ReadonlySet<string> = new Set(["DatasourceNoData", "DatasourceError"]);

/** Compiles valid matchers, all of which must hold. Without any, every alert matches. */
export function compileMatchers(texts: readonly string[]): MatchesLabels {
  const matchers = texts.flatMap((text) => parseMatcher(text) ?? []);
  const tests = matchers.map(compile);
  const named = matchers.filter(
    ({ name, operator }) => name === "alertname" && operator[0] === "=",
  );
  return (labels) => {
    const { alertname = "" } = labels;
    if (OF_GRAFANA_ITSELF.has(alertname) && !named.some(({ value }) => value.includes(alertname))) {
      return false;
    }
    return tests.every((test) => test(labels));
  };
}

function compile({ name, operator, value }: Matcher): MatchesLabels {
  const valueIn = (labels: Labels) => (Object.hasOwn(labels, name) ? (labels[name] ?? "") : "");
  switch (operator) {
    case "=":
      return (labels) => valueIn(labels) === value;
    case "!=":
      return (labels) => valueIn(labels) !== value;
    default: {
      const pattern = parsePattern(anchored(value));
      if (typeof pattern === "string") return () => false;
      return operator === "=~"
        ? (labels) => pattern(valueIn(labels))
        : (labels) => !pattern(valueIn(labels));
    }
  }
}
