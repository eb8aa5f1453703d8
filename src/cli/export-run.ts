import { OperatorError } from "../db/errors";
import type { Reader } from "../db/statements";
import type { ApplyFile } from "../features/apply/schema";
import { exportFile, writeApplyFile } from "../features/apply/export";
import { monitorsIn, omitForeignRefs } from "../features/apply/read";
import { listUndeclarableRefs } from "../features/monitors/declared";
import { findPageBySlug, type PageRow } from "../features/pages/store";
import { readPublicAddress } from "../features/settings/settings";
import { openForCommand } from "../installation";
import type { ExitCode, Invocation } from "./command";

/** File in which the schema is expected beside the exported one if the server's public address is not known. */
const SCHEMA_FILE = "allclear.schema.json";
const SCHEMA_HELP = `The first line names the schema for editors: \`allclear schema > ${SCHEMA_FILE}\`.`;
const HEAD = [
  "Written by `allclear export`. `allclear apply FILE` restores it, here or on another server.",
  "Objects are identified by their refs. Omitted fields have their defaults.",
  "Not included: statuses, incidents, maintenance, logos, users and API keys.",
];
const ofSecrets = (things: string) =>
  `Secrets and tokens of ${things} are not included either: null keeps a stored one. On another server, set each as \${NAME}.`;
const ofUnsupported = (refs: readonly string[]) =>
  `Monitors of types that this version cannot check are not included either: ${refs.join(", ")}.`;
const NOT_ALL =
  "This file is not complete: `allclear apply --prune` with it removes all other objects that apply created.";
const OMITTED =
  "Left out, because this file does not contain them. Applied to this server, it removes them:";

/** Prints the configuration file of the current state. */
export async function runExport({ config, value, output }: Invocation): Promise<ExitCode> {
  const slug = value("page");
  const { ctx, close } = openForCommand(config, "export", { canCreate: false });
  try {
    // A transaction, so that everything is read in the same state.
    const text = await ctx.db.write((tx) => {
      const page = slug === undefined ? undefined : findRealPage(tx, slug);
      const exported = exportFile(tx, { page });
      const { file, omitted } = omitForeignRefs(exported);
      const isAll = page === undefined || Bun.deepEquals(exported, withoutDefault(exportFile(tx)));
      const withSecrets = [
        ...(monitorsIn(file).length > 0 ? ["monitors"] : []),
        ...(file.webhooks ? ["webhooks"] : []),
      ].join(" and ");
      const address = config.baseUrl ?? readPublicAddress(tx);
      const schema = address === undefined ? SCHEMA_FILE : `${address}/schema/config.json`;
      const unsupported = listUndeclarableRefs(tx, page?.id);
      return writeApplyFile(file, [
        `yaml-language-server: $schema=${schema}`,
        ...HEAD,
        ...(address === undefined ? [SCHEMA_HELP] : []),
        ...(unsupported.length === 0 ? [] : [ofUnsupported(unsupported)]),
        ...(withSecrets === "" ? [] : [ofSecrets(withSecrets)]),
        ...(isAll ? [] : [NOT_ALL]),
        ...(omitted.length > 0 ? [OMITTED, ...omitted.map((line) => `  ${line}`)] : []),
      ]);
    });
    // `out` adds one line end. Further ones may belong to a text.
    output.out(text.replace(/\n$/, ""));
    return 0;
  } finally {
    close();
  }
}

/** Returns a file as one of a single page is, in which no page is the default. */
function withoutDefault({ pages, ...others }: ApplyFile): ApplyFile {
  return {
    pages: pages.map(({ default: _default, ...page }) => page),
    ...others,
  };
}

/** Returns a page by its current or a former slug. Throws an OperatorError for the sample page. */
function findRealPage(reader: Reader, slug: string): PageRow {
  const page = findPageBySlug(reader, { slug });
  if (!page) throw new OperatorError(`There is no page ${slug}.`);
  if (page.isSample) {
    throw new OperatorError(
      `${slug} is the sample page of a first start, which cannot be exported.`,
    );
  }
  return page;
}
