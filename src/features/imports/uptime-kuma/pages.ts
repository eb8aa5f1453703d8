import { plainText } from "../../../base/markdown";
import { DESCRIPTION_MAX } from "../../../base/texts";
import { isTimeZone } from "../../pages/rules";
import { bytesOfDataUrl, type FoundPage, type ForeignKey, keyOf } from "../source";
import { groupedBy, idOf, type KumaData } from "./data";
import { Notes } from "./notes";
import { flag, number, type Row, text, textOf } from "./values";

/** Default of `auto_refresh_interval` in Uptime Kuma, in seconds. */
const REFRESH = 300;

/** Reads a picture by the name of its file; undefined without the folder or the file. */
export type ReadPicture = (name: string) => Uint8Array | undefined;

export function pageKey(page: Row, column = "id"): ForeignKey {
  return keyOf({ type: "status_page", id: String(idOf(page, column)) });
}

/** Returns the status pages. */
export function findPages(
  data: KumaData,
  settings: ReadonlyMap<string, unknown>,
  readPicture: ReadPicture,
): FoundPage[] {
  const domains = groupedBy(data.status_page_cname, "status_page_id");
  const timeZone = serverTimeZone(settings);
  const [, entry] = /^statusPage-(.*)$/.exec(textOf(settings.get("entryPage"))) ?? [];
  return data.status_page.map((row) => {
    const notes = new Notes();
    const [slug, name] = [text(row["slug"]), text(row["title"])];
    const theme = text(row["theme"]);
    const logo = logoOf(text(row["icon"]), readPicture, notes);
    const body = {
      slug,
      name,
      description: descriptionOf(text(row["description"]), notes) || null,
      theme: theme === "light" || theme === "dark" ? theme : "system",
      visibility: flag(row["published"]) ? "public" : "private",
      compat: ["uptime-kuma"],
      ...(timeZone !== undefined && { time_zone: timeZone }),
    } satisfies FoundPage["body"];
    noteUnused(row, notes);
    return {
      foreign: { type: "status_page", id: String(idOf(row)), name },
      number: idOf(row),
      body,
      changes: notes.changes,
      isDefault: entry === slug,
      domains: (domains.get(idOf(row)) ?? []).map(({ domain = null }) => text(domain)),
      logo,
    };
  });
}

/** Returns the time zone of Uptime Kuma's server, if this server knows it. */
export function serverTimeZone(settings: ReadonlyMap<string, unknown>): string | undefined {
  const zone = textOf(settings.get("serverTimezone"));
  return zone !== "" && isTimeZone(zone) ? zone : undefined;
}

/** Returns a description as plain text, without the Markdown of Uptime Kuma. */
function descriptionOf(markdown: string, notes: Notes): string {
  const plain = plainText(markdown, DESCRIPTION_MAX);
  if (plain === markdown.trim().replace(/\s+/g, " ")) return markdown;
  notes.change("description", markdown, plain, "Descriptions of pages are plain text.");
  return plain;
}

/** Returns the picture of a page. The picture of all new pages is none. */
function logoOf(icon: string, readPicture: ReadPicture, notes: Notes): Uint8Array | null {
  if (icon === "" || icon === "/icon.svg") return null;
  const [, file] = /^\/upload\/([\w.-]+)(?:\?.*)?$/.exec(icon) ?? [];
  const bytes = file === undefined ? bytesOfDataUrl(icon) : readPicture(file);
  if (bytes) return bytes;
  const reason =
    file === undefined
      ? "Pictures at other addresses are not fetched."
      : "It is in the folder upload of its data directory. Import that directory, or upload the picture.";
  notes.drop("icon", reason);
  return null;
}

const isSet = (value: Row[string] | undefined) => text(value).trim() !== "";
const isOn = (value: Row[string] | undefined) => flag(value);

/** Settings of pages that have no counterpart, with the test for a value that somebody set. */
const UNUSED: Readonly<Record<string, (value: Row[string] | undefined) => boolean>> = {
  custom_css: isSet,
  footer_text: isSet,
  rss_title: isSet,
  password: isSet,
  analytics_id: isSet,
  analytics_script_url: isSet,
  google_analytics_tag_id: isSet,
  show_tags: isOn,
  show_certificate_expiry: isOn,
  show_only_last_heartbeat: isOn,
  search_engine_index: (value) => number(value, 1) === 0,
  show_powered_by: (value) => number(value, 1) === 0,
  auto_refresh_interval: (value) => number(value, REFRESH) !== REFRESH,
};

/** Notes what is not moved, on one line. */
function noteUnused(row: Row, notes: Notes): void {
  const used = Object.entries(UNUSED).flatMap(([column, test]) =>
    test(row[column]) ? [column] : [],
  );
  if (used.length > 0) notes.drop(used.join(", "), "Pages have no such settings.");
}
