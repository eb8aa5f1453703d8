import { ANALYTICS_PATH } from "../paths";
import { type SpanName, USUAL_SPAN } from "./time-span";

export const INCIDENT_FIGURES_PATH = `${ANALYTICS_PATH}/incidents`;
export const REQUEST_FIGURES_PATH = `${ANALYTICS_PATH}/requests`;
const UPTIME_CSV_PATH = `${ANALYTICS_PATH}/uptime.csv`;

/** Page and period that figures cover. */
export interface Asked {
  /** Slug of the page; undefined for all pages. */
  page: string | undefined;
  span: SpanName;
}

export function uptimeCsvPath(asked: Asked): string {
  return withQuery(UPTIME_CSV_PATH, asked);
}

export function withQuery(path: string, { page, span }: Asked): string {
  const query = new URLSearchParams();
  if (page !== undefined) query.set("page", page);
  if (span !== USUAL_SPAN) query.set("span", span);
  const text = query.toString();
  return text === "" ? path : `${path}?${text}`;
}
