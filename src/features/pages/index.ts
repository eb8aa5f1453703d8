/**
 * Status pages: their slugs (the present one and those that go on answering), their settings, which
 * one is the default, and the sample that the first real page removes.
 */
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
export {
  findDefaultPage,
  findPage,
  findPageByRef,
  findPageBySlug,
  listAllPages,
  listPagesBefore,
  type PageRow,
} from "./store";
