import { describe, expect, test } from "bun:test";
import { renderToString } from "preact-render-to-string";
import { type ColumnSort, DataTable, inOrder, OrderSelect, type Sorting } from "../../src/ui/list";
import { readHtml } from "../support/html";

const sorted = (order: string | undefined): Sorting => ({
  order,
  usual: "Newest first",
  pathOf: (next) => (next === undefined ? "/list" : `/list?sort=${next}`),
});

/** Returns what the heading of the only column offers in an order: its `aria-sort`, and the next order. */
function headingIn(sort: ColumnSort, order?: string) {
  const columns = [{ label: "Name", sort, cell: () => null }];
  const table = <DataTable caption="List" columns={columns} entries={[]} sorting={sorted(order)} />;
  const page = readHtml(renderToString(table));
  return [...page.attributes("th", "aria-sort"), ...page.attributes("th a", "href")];
}

describe("the heading of a column", () => {
  test("a heading offers both directions one after the other, and then the usual order", () => {
    const sort = { key: "name" };
    expect(headingIn(sort)).toEqual(["/list?sort=name"]);
    expect(headingIn(sort, "name")).toEqual(["ascending", "/list?sort=-name"]);
    expect(headingIn(sort, "-name")).toEqual(["descending", "/list"]);
    expect(headingIn(sort, "-other")).toEqual(["/list?sort=name"]);
  });

  test("figures and times begin with the largest and newest", () => {
    expect(headingIn({ key: "size", kind: "number" })).toEqual(["/list?sort=-size"]);
    expect(headingIn({ key: "at", kind: "time" })).toEqual(["/list?sort=-at"]);
  });

  test("the column of the usual order says so, and has only the other direction", () => {
    const sort = { key: "at", kind: "time", usual: "descending" } as const;
    expect(headingIn(sort)).toEqual(["descending", "/list?sort=at"]);
    expect(headingIn(sort, "-at")).toEqual(["descending", "/list?sort=at"]);
    expect(headingIn(sort, "at")).toEqual(["ascending", "/list"]);
    expect(headingIn(sort, "name")).toEqual(["/list"]);
    const other = { key: "name", usual: "other" } as const;
    expect(headingIn(other)).toEqual(["other", "/list?sort=name"]);
  });

  test("a column with one direction offers that and the usual order", () => {
    const sort = { key: "name", only: "ascending" } as const;
    expect(headingIn(sort)).toEqual(["/list?sort=name"]);
    expect(headingIn(sort, "name")).toEqual(["ascending", "/list"]);
  });

  test("the select for the order offers what the headings do, in words", () => {
    const columns = [
      { label: "Monitor, worst first", sort: { key: "name", usual: "other" } },
      { label: "Component" },
      { label: "Checked", sort: { key: "checked", kind: "time" } },
    ] as const;
    const select = <OrderSelect sorting={sorted("-checked")} columns={columns} />;
    const page = readHtml(renderToString(select));
    expect(page.texts("option")).toEqual([
      "Newest first",
      "Monitor, A to Z",
      "Monitor, Z to A",
      "Checked, newest first",
      "Checked, oldest first",
    ]);
    expect(page.attributes("option[selected]", "value")).toEqual(["-checked"]);
  });
});

describe("entries in an order", () => {
  const ENTRIES = [
    { name: "item 10", size: 2, at: null },
    { name: "Item 9", size: 1, at: 5 },
    { name: "éclair", size: 2, at: 7 },
    { name: "zebra", size: 2, at: null },
  ];
  const VALUES = {
    name: ({ name }: (typeof ENTRIES)[number]) => name,
    size: ({ size }: (typeof ENTRIES)[number]) => size,
    at: ({ at }: (typeof ENTRIES)[number]) => at,
  };
  const namesIn = (order: string | undefined) =>
    inOrder(ENTRIES, order, VALUES).map(({ name }) => name);

  test("names are ordered as people read them, with numbers by their value", () => {
    expect(namesIn("name")).toEqual(["éclair", "Item 9", "item 10", "zebra"]);
    expect(namesIn("-name")).toEqual(["zebra", "item 10", "Item 9", "éclair"]);
  });

  test("equal values keep the given order in both directions", () => {
    expect(namesIn("size")).toEqual(["Item 9", "item 10", "éclair", "zebra"]);
    expect(namesIn("-size")).toEqual(["item 10", "éclair", "zebra", "Item 9"]);
  });

  test("entries without a value are last in both directions", () => {
    expect(namesIn("at")).toEqual(["Item 9", "éclair", "item 10", "zebra"]);
    expect(namesIn("-at")).toEqual(["éclair", "Item 9", "item 10", "zebra"]);
  });

  test("an unknown order and none change nothing", () => {
    for (const order of [undefined, "", "-", "colour", "toString", "-constructor"]) {
      expect(namesIn(order)).toEqual(ENTRIES.map(({ name }) => name));
    }
  });
});
