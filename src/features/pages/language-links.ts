/* Addresses of a page in one of its languages. */
import { languageFor, type PageLanguages } from "./rules";

/** Name of the parameter by which visitors choose a language of a page. */
export const LANGUAGE_PARAMETER = "lang";

/** Adds a chosen language to an address. */
export function withLanguage(address: string, language: string | undefined): string {
  if (language === undefined) return address;
  const [path = "", fragment] = address.split("#");
  const parameter = `${path.includes("?") ? "&" : "?"}${LANGUAGE_PARAMETER}=${language}`;
  return `${path}${parameter}${fragment === undefined ? "" : `#${fragment}`}`;
}

/** Returns the language that links to a page keep for a person; undefined for that of the page itself. */
export function linkedLanguage(
  page: PageLanguages,
  language: string | null | undefined,
): string | undefined {
  const shown = languageFor(page, language);
  return shown === page.locale ? undefined : shown;
}
