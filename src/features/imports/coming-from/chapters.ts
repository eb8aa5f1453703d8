import { findImportSource } from "../../../base/import-sources";
import type { Chapter } from "./chapter";
import { gatus } from "./gatus";
import { healthchecks } from "./healthchecks";
import { statuspage } from "./statuspage";
import { uptimeKuma } from "./uptime-kuma";

/** Chapters about the products from which this version imports. */
export const CHAPTERS: readonly Chapter[] = [uptimeKuma, gatus, statuspage, healthchecks].filter(
  ({ kind }) => findImportSource(kind) !== undefined,
);
