import { type OpenApi, placedOperations } from "../../src/public/reference/model";
import { LANGUAGES, type SampleNames, sampleRequest } from "../../src/public/reference/samples";

/** A program for an operation, in one of the languages. */
export interface ApiSample {
  tag: string;
  summary: string;
  /** Its scope in Markdown, "any key", or undefined for an operation that needs no API key. */
  needs: string | undefined;
  method: string;
  path: string;
  code: string;
}

export type Language = (typeof LANGUAGES)[number]["id"];

/** Names with which the commands of docs/api.md are written. */
const VARIABLES: SampleNames = { origin: { env: "URL" }, key: "KEY", token: "TOKEN" };

/** Returns a program for each operation, in the order of the document. */
export function apiSamples(document: OpenApi, id: Language, names: SampleNames): ApiSample[] {
  const language = LANGUAGES.find((one) => one.id === id);
  return placedOperations(document)
    .filter(({ isSent }) => !isSent)
    .map((operation) => {
      const { tags, summary, security = [], method, path } = operation;
      const needsKey = security.some((scheme) => "apiKey" in scheme);
      const [scope] = operation["x-required-scopes"] ?? [];
      return {
        tag: tags[0] ?? "",
        summary,
        needs: needsKey ? (scope === undefined ? "any key" : `\`${scope}\``) : undefined,
        method,
        path,
        code: language?.write(sampleRequest(document, operation, names)) ?? "",
      };
    });
}

/** Returns the commands as Markdown: a heading for each tag, a block for each command, or one for those without a key. */
export function commandsAsMarkdown(document: OpenApi): string {
  const byTag = Map.groupBy(apiSamples(document, "curl", VARIABLES), ({ tag }) => tag);
  return document.tags
    .flatMap(({ name }) => {
      const commands = byTag.get(name);
      if (!commands) return [];
      const blocks = commands
        .filter(({ needs }) => needs !== undefined)
        .map(({ summary, needs, code }) => `${summary} (${needs}):\n\n${shell(code)}`);
      const open = commands
        .filter(({ needs }) => needs === undefined)
        .map(({ summary, code }) => `# ${summary}\n${code}`);
      const openBlock = open.length > 0 ? [`Without an API key:\n\n${shell(open.join("\n"))}`] : [];
      return [`### Commands: ${name}`, ...blocks, ...openBlock];
    })
    .join("\n\n");
}

const shell = (code: string) => `\`\`\`sh\n${code}\n\`\`\``;
