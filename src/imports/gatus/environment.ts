/*
 * Variables in configuration files of Gatus, which it replaces before it parses them: `$NAME` and `${NAME}`; `$$` is a
 * dollar sign.
 */
import { Lexer } from "yaml";

export type Environment = Readonly<Record<string, string | undefined>>;

// As Go's os.Expand: names, one digit or special character, and braces with any text.
const VARIABLE = /\$(?:(\$)|\{([^}]*)\}|([A-Za-z_][A-Za-z0-9_]*|[0-9*#@!?-]))/g;

/**
 * Replaces the variables of a text. Unset ones become empty, and are listed unless they are in a comment. The values of
 * the others are listed too, since they may be secrets.
 */
export function expandVariables(
  text: string,
  environment: Environment,
): { text: string; unset: string[]; values: ReadonlySet<string> } {
  const missing: { name: string; at: number }[] = [];
  const values = new Set<string>();
  const expanded = text.replace(
    VARIABLE,
    (_whole, dollar: string | undefined, inBraces: string | undefined, plain = "", at: number) => {
      if (dollar !== undefined) return "$";
      const name = inBraces ?? String(plain);
      const value = Object.hasOwn(environment, name) ? environment[name] : undefined;
      if (value === undefined) missing.push({ name, at });
      else values.add(value);
      return value ?? "";
    },
  );
  const isInComment = missing.length > 0 ? commentsOf(text) : () => false;
  const names = missing.flatMap(({ name, at }) => (isInComment(at) ? [] : [name]));
  return { text: expanded, unset: [...new Set(names)], values };
}

/** Returns a function that is true for offsets in comments. It is asked for rising offsets. */
function commentsOf(text: string): (offset: number) => boolean {
  const comments: { from: number; until: number }[] = [];
  let at = 0;
  for (const token of new Lexer().lex(text)) {
    // Marks of the lexer itself are not in the text.
    if (!text.startsWith(token, at)) continue;
    if (token.startsWith("#")) comments.push({ from: at, until: at + token.length });
    at += token.length;
  }
  let next = 0;
  return (offset) => {
    while ((comments[next]?.until ?? Infinity) <= offset) next += 1;
    return (comments[next]?.from ?? Infinity) <= offset;
  };
}

/** Line of a file of variables: a name, an equals sign and a value, which may be in quotes. */
const LINE = /^\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*?)\s*$/;

/** Reads a file of variables, with a line `NAME=value` each, as Docker Compose does. */
export function readEnvironment(text: string): Record<string, string> {
  const pairs = text.split(/\r?\n/).flatMap((line) => {
    if (/^\s*(#|$)/.test(line)) return [];
    const [, name, value = ""] = LINE.exec(line) ?? [];
    return name === undefined ? [] : [[name, unquoted(value)] as const];
  });
  return Object.fromEntries(pairs);
}

const ESCAPES: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t" };

function unquoted(value: string): string {
  const [, single] = /^'([^']*)'(?:\s+#.*)?$/.exec(value) ?? [];
  if (single !== undefined) return single;
  const [, double] = /^"((?:[^"\\]|\\.)*)"(?:\s+#.*)?$/.exec(value) ?? [];
  if (double === undefined) return value.replace(/\s+#.*$/, "");
  return double.replace(/\\(.)/g, (_whole, letter: string) => ESCAPES[letter] ?? letter);
}
