/**
 * What pages are made of: the tokens, the shapes of the statuses, and the document around a page.
 */
export { type DocumentProps, type HtmlDocument, renderDocument } from "./document";
export { STATUS_WORDS, StatusLabel, StatusShape } from "./shapes";
