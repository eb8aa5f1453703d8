import { setImmediate } from "node:timers/promises";
import { Problem } from "../../base/errors";
import { relayTakesUtf8 } from "../../features/mail/relay-offers";
import { getPage } from "../../features/pages/pages";
import { importSubscribers, requireImportable } from "../../features/subscribers/import";
import { readConsent } from "../../features/subscribers/consent";
import { readImportFile } from "../../features/subscribers/import-file";
import { actorOf } from "../../http/request-context";
import { within } from "../../base/clock";
import type { AdminDependencies } from "../../ui/frame/dependencies";
import type { SentAt } from "../../ui/screens/routes";
import type { ImportOutcome } from "./transfer";
import type { ImportBody } from "./transfer-forms";
import { IMPORT_FILE_MAX_BYTES } from "./subscriber-paths";

/** Bad lines that the screen lists. */
const BAD_LINES_MAX = 200;
/** Time of a transaction, before its commit. */
const CHUNK_MS = 2;
/** Time after which the answer does not wait for the end. Many proxies wait for half a minute. */
const ANSWER_AFTER_MS = 10_000;

/**
 * Checks or imports the file of a form. An import that takes longer goes on after the answer, and its audit entry
 * says how far it has come. Throws `payload_too_large`, `validation_failed` and `conflict`.
 */
export async function runImport(
  { ctx, writeAs }: Pick<AdminDependencies, "ctx" | "writeAs">,
  { requestContext, sent }: SentAt<string>,
  { page: pageId, file: bytes, kind, consent: words }: ImportBody,
): Promise<ImportOutcome> {
  if (bytes.byteLength > IMPORT_FILE_MAX_BYTES) {
    const limit = `${IMPORT_FILE_MAX_BYTES / 1_024} KiB`;
    throw new Problem("payload_too_large", `The file is larger than ${limit}.`);
  }
  const page = getPage(ctx.db, pageId);
  const consent = kind === "consent" ? readConsent(words) : null;
  requireImportable(ctx, page, consent === null);
  const options = { badLinesMax: BAD_LINES_MAX, allowUtf8Local: relayTakesUtf8(ctx) };
  const file = await readImportFile(ctx.db, page, [bytes], options);
  const isDryRun = sent.text("intent") !== "import";
  const running = importSubscribers(
    ctx,
    { page, file, consent, source: "import", isDryRun },
    {
      chunkMs: CHUNK_MS,
      write: (change) => writeAs(requestContext, change),
      // Other requests are read before the next transaction.
      between: () => setImmediate(),
    },
    actorOf(requestContext),
  );
  const counts = await within(ctx.clock, ANSWER_AFTER_MS, running, (err) =>
    ctx.log.warn({ err }, "an import of subscribers broke off"),
  );
  return { isDryRun, counts, badLines: file.badLines, badCount: file.badCount };
}
