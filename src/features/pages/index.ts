/**
 * Status pages: their settings, current and earlier slugs, custom domains and logos, the default
 * page, and the sample page that the first real page removes.
 */
export {
  DOMAINS_MAX,
  hostNameOf,
  logoPath,
  logoSize,
  pageBaseUrl,
  type PageAddress,
  pageUrl,
  toDomain,
} from "./address";
export { createDomains, type DomainPage, type Domains } from "./custom-domains";
export { deleteLogo, LOGO_MAX_BYTES, putLogo, readLogo } from "./logo";
export { findNamedPage, PageFilter, readPageFilter } from "./filter";
export {
  fullMailSettings,
  MAIL_FOOTER_MAX,
  mailSettingsOf,
  type PageMailInput,
  takesSubscribers,
} from "./mail";
export { Page, PageInput, presentPage } from "./model";
export {
  createPage,
  findPageBySlugOrId,
  getPage,
  touchPage,
  updatePage,
  updatePageMail,
  validatePageInput,
} from "./service";
export { findNextDefaultPage, removePage } from "./remove";
export { compatOf, isReservedSlug, isTimeZone, JOIN_MINUTES, JOIN_MINUTES_MAX } from "./rules";
export { listOldSlugs, type OldSlug, releaseSlug } from "./slugs";
export {
  findDefaultPage,
  findPage,
  findPageByRef,
  findPageBySlug,
  findPageOrDeleted,
  listAllPages,
  listPagesBefore,
  type PageRow,
} from "./store";
