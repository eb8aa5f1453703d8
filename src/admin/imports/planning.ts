import type { Ctx } from "../../context";
import type { Actor } from "../../base/actor";
import type { ImportSource } from "../../base/import-sources";
import { type FieldError, invalidFields } from "../../base/errors";
import type { ImportJob, ImportJobs, JobPlace } from "../../features/imports/jobs";
import { parseOptions } from "../../features/imports/options";
import { validateOptions } from "../../features/imports/importers";
import { within } from "../../base/clock";
import { FILE_MAX_BYTES, type ImportBody, optionValues } from "./form";

/** Time after which the answer does not wait for a plan or an import. Many proxies wait for half a minute. */
const ANSWER_AFTER_MS = 10_000;

/** Error of a name that no offered file has. */
const GONE = "This file is not in the folder, or it has symbolic links. Select another one.";

/** Returns functions that make the plan of a form, and that wait for a plan or an import. */
export function createPlanning(ctx: Ctx, imports: ImportJobs) {
  /** Waits for work, which goes on without the answer. */
  async function wait(settled: Promise<void>): Promise<void> {
    await within(ctx.clock, ANSWER_AFTER_MS, settled, (err) =>
      ctx.log.error({ err }, "an import broke off"),
    );
  }

  /** Makes the plan that a form asks for. Throws `validation_failed` and `conflict`. */
  async function plan(source: ImportSource, body: ImportBody, author: Actor): Promise<ImportJob> {
    const values = optionValues(source, body);
    const { options, errors } = parseOptions({
      source: body.source,
      only: body.only,
      history_days: body.history_days,
      internal_page: body.internal_page || "none",
      isPaused: body.paused ?? false,
      takesDomains: body.take_domains ?? false,
      isDryRun: true,
    });
    const place = await placeOf(source, body);
    const paths = { ...values };
    for (const { name, type } of source.options) {
      const file = values[name];
      if (type !== "file" || file === undefined) continue;
      const path = await imports.files.find(source, file);
      if (path === undefined) errors.push({ pointer: `#/${name}`, detail: GONE });
      else paths[name] = path;
    }
    errors.push(...validateOptions(source, values));
    if ("detail" in place) errors.unshift(place);
    if ("detail" in place || errors.length > 0) throw invalidFields(errors);
    const request = { source, place: place.place, values: paths, options };
    const { job, settled } = await imports.plan(request, author);
    await wait(settled);
    // Somebody may have discarded or replaced it meanwhile.
    if (job.state !== "failed" || !imports.find(job.id)) return job;
    const { message = "", fields = [] } = job.failure ?? {};
    await imports.discard(job.id);
    // The slug is the only value of the form that services validate. Others are of the source.
    const slug = fields.find((field) => field.pointer === "#/slug");
    throw invalidFields([
      slug ? { ...slug, pointer: "#/internal_page" } : { pointer: place.pointer, detail: message },
    ]);
  }

  /** Returns the one place that a form names, and its field, or the error of the field. */
  async function placeOf(
    source: ImportSource,
    { file, offered, url }: ImportBody,
  ): Promise<{ place: JobPlace; pointer: string } | FieldError> {
    const wrong = (field: string, detail: string) => ({ pointer: `#/${field}`, detail });
    const first = source.takes.includes("url") ? "url" : "file";
    const given = [file, offered, url].filter((each) => each !== undefined);
    if (given.length === 0) {
      return wrong(
        first,
        first === "url" ? "Enter an address, or select a file." : "Select a file.",
      );
    }
    if (given.length > 1) return wrong(first, "Give one place only: clear the others.");
    if (file) {
      if (file.bytes.byteLength > FILE_MAX_BYTES) {
        return wrong(
          "file",
          `The file is larger than ${FILE_MAX_BYTES / 1_024} KiB. Put it into ${imports.files.folder} on the server, or run the command “allclear import ${source.kind}”.`,
        );
      }
      return { place: { name: file.name || "File", bytes: file.bytes }, pointer: "#/file" };
    }
    if (offered !== undefined) {
      const path = await imports.files.find(source, offered);
      if (path === undefined) {
        // Without any file, the form has no such field.
        const { length } = await imports.files.list(source);
        return wrong(length > 0 ? "offered" : "file", GONE);
      }
      return { place: { name: offered, path }, pointer: "#/offered" };
    }
    const parsed = URL.parse(url ?? "");
    if (parsed?.protocol !== "https:" && parsed?.protocol !== "http:") {
      return wrong("url", "Enter an address that begins with https://.");
    }
    return { place: { name: parsed.host, url: parsed.href }, pointer: "#/url" };
  }

  return { plan, wait };
}
