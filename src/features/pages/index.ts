/**
 * Status pages: their slugs (the present one and those that go on answering), their own host names and
 * logos, their settings, which one is the default, and the sample that the first real page removes.
 */
export { type PageAddress, pageBaseUrl, pageUrl } from "./address";
export { createDomains, type DomainPage, type Domains } from "./custom-domains";
export { DOMAINS_MAX, hostNameOf, toDomain } from "./domain-name";
export {
  deleteLogo,
  LOGO_MAX_BYTES,
  LOGO_MAX_SIDE,
  type LogoInput,
  putLogo,
  readLogo,
} from "./logo";
export { logoPath, logoSize } from "./logo-path";
export { Page, PageInput, presentPage, RefText } from "./model";
export {
  createPage,
  deletePage,
  findPageBySlugOrId,
  getPage,
  judgePageInput,
  type PageMarks,
  touchPage,
  updatePage,
} from "./service";
export { listOldSlugs, type OldSlug, releaseSlug } from "./slugs";
export {
  findDefaultPage,
  findPage,
  findPageByRef,
  findPageBySlug,
  listAllPages,
  listPagesBefore,
  type LogoRow,
  type PageRow,
} from "./store";
