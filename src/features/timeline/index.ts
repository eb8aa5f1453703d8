/**
 * The common parts of incidents and maintenance: fields and limits of updates, sizes of lists and
 * events, and conditions of statements. Their rules differ and stay in their own modules.
 */
export {
  EVENT_DATA_MAX_BYTES,
  EVENT_TEXT_MAX,
  eventFields,
  jsonBytes,
  Truncated,
  truncateText,
} from "./event-size";
export { TRUNCATED_COMPONENTS_MAX, listLimits, UPDATES_IN_LISTS } from "./list-size";
export {
  isAmongNewest,
  isWithin,
  newestFirst,
  newestStartFirst,
  type SpanParams,
  spanParams,
  type SummaryCursor,
  type SummarySpan,
  textSizes,
} from "./store";
export {
  isInFuture,
  type MailOf,
  NAMED_COMPONENTS_MAX,
  Notify,
  requireUpdate,
  toMs,
  UPDATE_TEXT_MAX,
  UPDATES_MAX,
  UpdateText,
  withMail,
  WrittenMail,
  type WrittenSubject,
} from "./updates";
