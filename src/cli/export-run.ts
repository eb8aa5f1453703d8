import { OperatorError, type Reader } from "../db";
import { exportFile, monitorsIn, writeApplyFile } from "../features/apply";
import { findPageBySlug, type PageRow } from "../features/pages";
import { openForCommand } from "../installation";
import type { ExitCode, Invocation } from "./command";

const HEAD = [
  "Written by `allclear export`; `allclear apply FILE` makes it so, here or elsewhere.",
  "Each thing is found again by its ref. A field that is left out has its default.",
  "Not in here: statuses, incidents, maintenance, logos, users and API keys.",
];
const ofSecrets = (things: string) =>
  `Nor the secrets and tokens of ${things}: null keeps one that is known; elsewhere give it, as \${NAME}.`;
const NOT_ALL =
  "This is not all that there is: `allclear apply --prune` with it removes what else apply made.";

/** Prints the configuration file of the current state. */
export async function runExport({ config, value, output }: Invocation): Promise<ExitCode> {
  const slug = value("page");
  const { ctx, close } = openForCommand(config, "export", { mayCreate: false });
  try {
    // A transaction, so that everything is read in the same state.
    const text = await ctx.db.write((tx) => {
      const page = slug === undefined ? undefined : findRealPage(tx, slug);
      const file = exportFile(tx, { page });
      const isAll = page === undefined || Bun.deepEquals(file, exportFile(tx));
      const withSecrets = [
        ...(monitorsIn(file).length > 0 ? ["monitors"] : []),
        ...(file.webhooks ? ["webhooks"] : []),
      ].join(" and ");
      return writeApplyFile(file, [
        ...HEAD,
        ...(withSecrets === "" ? [] : [ofSecrets(withSecrets)]),
        ...(isAll ? [] : [NOT_ALL]),
      ]);
    });
    // `out` adds one line end. Further ones may belong to a text.
    output.out(text.replace(/\n$/, ""));
    return 0;
  } finally {
    close();
  }
}

/** Returns a page by its current or a former slug. Throws an OperatorError for the sample page. */
function findRealPage(reader: Reader, slug: string): PageRow {
  const page = findPageBySlug(reader, { slug });
  if (!page) throw new OperatorError(`There is no page ${slug}.`);
  if (page.isSample) {
    throw new OperatorError(`${slug} is the example page of a first run; no file holds it.`);
  }
  return page;
}
