// "@name" where it is no part of an address.
const MENTION = /(?<![\p{L}\p{N}._%+-])@(?=[\p{L}\p{N}_])/gu;

/** A text in which `@everyone` calls nobody, and reads the same. */
export function withoutMentions(text: string): string {
  return text.replace(MENTION, "@\u200b");
}
