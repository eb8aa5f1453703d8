/**
 * Status pages: their slugs (the present one and those that go on answering), their own host names and
 * logos, their settings, which one is the default, and the sample that the first real page removes.
 */
export { type PageAddress, pageUrl } from "./address";
export { createDomains, type DomainPage, type Domains } from "./custom-domains";
export { DOMAINS_MAX, hostNameOf, toDomain } from "./domain-name";
export { deleteLogo, LOGO_MAX_BYTES, putLogo, readLogo } from "./logo";
export { findNamedPage, PageFilter, readPageFilter } from "./filter";
export { logoPath, logoSize } from "./logo-path";
export { Page, PageInput, presentPage, RefText } from "./model";
export {
  createPage,
  findPageBySlugOrId,
  getPage,
  validatePageInput,
  touchPage,
  updatePage,
} from "./service";
export { findNextDefaultPage, removePage } from "./remove";
export { listOldSlugs, type OldSlug, releaseSlug } from "./slugs";
export {
  findDefaultPage,
  findPage,
  findPageByRef,
  findPageBySlug,
  listAllPages,
  listPagesBefore,
  type PageRow,
} from "./store";
