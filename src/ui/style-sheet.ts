import { sha256Base64 } from "../base/hash";
import { lazy } from "../base/lazy";
import base from "./base.css" with { type: "text" };
import analytics from "./css/analytics.css" with { type: "text" };
import barChart from "./css/bar-chart.css" with { type: "text" };
import blocks from "./css/blocks.css" with { type: "text" };
import buttons from "./css/buttons.css" with { type: "text" };
import calendar from "./css/calendar.css" with { type: "text" };
import charts from "./css/charts.css" with { type: "text" };
import choices from "./css/choices.css" with { type: "text" };
import code from "./css/code.css" with { type: "text" };
import content from "./css/content.css" with { type: "text" };
import denseTable from "./css/dense-table.css" with { type: "text" };
import detail from "./css/detail.css" with { type: "text" };
import dialog from "./css/dialog.css" with { type: "text" };
import fields from "./css/fields.css" with { type: "text" };
import filters from "./css/filters.css" with { type: "text" };
import fonts from "./css/fonts.css" with { type: "text" };
import formCard from "./css/form-card.css" with { type: "text" };
import general from "./css/general.css" with { type: "text" };
import health from "./css/health.css" with { type: "text" };
import input from "./css/input.css" with { type: "text" };
import labels from "./css/labels.css" with { type: "text" };
import layout from "./css/layout.css" with { type: "text" };
import listTools from "./css/list-tools.css" with { type: "text" };
import navigation from "./css/navigation.css" with { type: "text" };
import notices from "./css/notices.css" with { type: "text" };
import order from "./css/order.css" with { type: "text" };
import overview from "./css/overview.css" with { type: "text" };
import pictures from "./css/pictures.css" with { type: "text" };
import plain from "./css/plain.css" with { type: "text" };
import preferences from "./css/preferences.css" with { type: "text" };
import report from "./css/report.css" with { type: "text" };
import rows from "./css/rows.css" with { type: "text" };
import search from "./css/search.css" with { type: "text" };
import sheet from "./css/sheet.css" with { type: "text" };
import sidebarFoot from "./css/sidebar-foot.css" with { type: "text" };
import sidebarIcons from "./css/sidebar-icons.css" with { type: "text" };
import sidebar from "./css/sidebar.css" with { type: "text" };
import steps from "./css/steps.css" with { type: "text" };
import tabbar from "./css/tabbar.css" with { type: "text" };
import table from "./css/table.css" with { type: "text" };
import text from "./css/text.css" with { type: "text" };
import tile from "./css/tile.css" with { type: "text" };
import timeChart from "./css/time-chart.css" with { type: "text" };
import timeline from "./css/timeline.css" with { type: "text" };
import tokens from "./tokens.css" with { type: "text" };

/** Removes comments, spaces and last semicolons. Texts in the style sheet must not contain these. */
export function minifyCss(css: string): string {
  return css
    .replace(/\/\*[\s\S]*?\*\//g, "")
    .replace(/\s+/g, " ")
    .replace(/ ?([{};,]) ?/g, "$1")
    .replaceAll(": ", ":")
    .replaceAll(";}", "}")
    .trim();
}

/** Returns the value of a token in a theme: 0 is light, 1 is dark, as in the order of `tokens.css`. */
export function colourOf(token: string, theme: number): string {
  const color = [...tokens.matchAll(new RegExp(`--${token}: (#[0-9a-f]{6});`, "g"))][theme]?.[1];
  if (color === undefined) throw new Error(`the tokens have no ${token}`);
  return color;
}

/** Style sheet of a page without links, with its hash. */
export const inlineStyle = lazy(() => {
  const css = minifyCss(`${tokens}\n${base}`);
  return { css, hash: sha256Base64(css) };
});

/** Returns the style sheet of a page without links, followed by `part`. */
export function inlineStyleWith(part: string): { css: string; hash: string } {
  const css = inlineStyle().css + part;
  return { css, hash: sha256Base64(css) };
}

/**
 * Returns the style sheet of the dashboard, whose font is at `fontPath`. Later files override earlier
 * ones.
 */
export function dashboardCss(fontPath: string): string {
  return minifyCss(
    [
      tokens,
      base,
      content,
      text,
      layout,
      blocks,
      navigation,
      labels,
      fonts,
      sidebar,
      sidebarFoot,
      sheet,
      tile,
      plain,
      sidebarIcons,
      tabbar,
      buttons,
      input,
      fields,
      choices,
      rows,
      filters,
      notices,
      table,
      denseTable,
      listTools,
      detail,
      timeline,
      formCard,
      order,
      charts,
      barChart,
      timeChart,
      pictures,
      code,
      dialog,
      overview,
      health,
      general,
      steps,
      search,
      analytics,
      calendar,
      report,
      preferences,
    ].join("\n"),
  ).replace("FONT_PATH", fontPath);
}
