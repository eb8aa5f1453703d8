import { printAST } from "@formatjs/icu-messageformat-parser/printer.js";
import { IntlMessageFormat } from "intl-messageformat";
import english from "../../src/languages/en.json";
import { createWords, keepWords, type MessageKey } from "../../src/languages/words";

/** Locale of a language that is none, written from right to left: that of the CLDR for such tests. */
export const PSEUDO_LOCALE = "ar-XB";

/** Letters in place of those of English. A word with other ones is not of a catalog. */
const LETTERS = Object.fromEntries(
  Array.from("abcdefghijklmnopqrstuvwxyz", (letter, index) => [
    letter,
    Array.from("àƀçđéƒğĥíĵķļɱñóþǫŕšţúṽŵẋýž")[index] ?? letter,
  ]),
);

/** Share by which texts are longer. */
const LONGER = 0.4;

type Ast = ReturnType<IntlMessageFormat["getAst"]>;

/** Changes the words of a message: other letters, 40 % more of them, between brackets. */
function changeWords(elements: Ast): void {
  for (const element of elements) {
    const { type, value } = element as { type: number; value: string };
    if (type === 0) Object.assign(element, { value: changeText(value) });
    const { children, options = {} } = element as unknown as {
      children?: Ast;
      options?: Record<string, { value: Ast }>;
    };
    if (children) changeWords(children);
    for (const option of Object.values(options)) changeWords(option.value);
  }
}

function changeText(text: string): string {
  if (!/[a-z]/i.test(text)) return text;
  const letters = text.toLowerCase().replace(/[a-z]/g, (letter) => LETTERS[letter] ?? letter);
  const more = letters.trim().slice(0, Math.ceil(letters.length * LONGER));
  const [before] = /^\s*/.exec(letters) ?? [""];
  const [after] = /\s*$/.exec(letters) ?? [""];
  return `${before}⟦${letters.trim()} ${more}⟧${after}`;
}

/** Makes the words of the pseudo-language from the English catalog, and gives them to its locale. */
export function keepPseudoWords(): void {
  const messages = Object.entries(english.messages).map(([key, message]) => {
    if (key === "list.separator") return [key, message];
    // Not in the format, whose printer writes apostrophes twice.
    if (!/[{<]/.test(message)) return [key, changeText(message)];
    const ast = structuredClone(new IntlMessageFormat(message, "en").getAst());
    changeWords(ast);
    return [key, printAST(ast)];
  });
  const catalog = {
    language: { name: "⟦pseudo⟧", dir: "rtl" as const },
    messages: Object.fromEntries(messages) as Record<MessageKey, string>,
  };
  keepWords(PSEUDO_LOCALE, createWords(catalog, PSEUDO_LOCALE));
}
