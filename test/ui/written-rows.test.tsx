import { expect, test } from "bun:test";
import { renderToString } from "preact-render-to-string";
import { Cell, Row, Table, writeRow } from "../../src/ui/list";
import { spriteFor } from "../../src/ui/icons";

const COLUMNS = [{ label: "Name" }, { label: "Down", isNumeric: true }];

test("a row written as text equals the row of elements, with escaped labels", () => {
  const label = `"><b>Down`;
  const cells = [{ html: "<i>API</i>" }, { label, isNumeric: true, html: "" }];
  const elements = (
    <Table columns={COLUMNS}>
      <Row>
        <Cell>
          <i>API</i>
        </Cell>
        <Cell label={label} isNumeric />
      </Row>
    </Table>
  );
  const written = renderToString(<Table columns={COLUMNS} html={writeRow(cells)} />);
  expect(written.replaceAll("&gt;", ">")).toBe(renderToString(elements));
});

test("the sprite has each icon that a page refers to once, and none of another reference", () => {
  const html = `<use href="#i-bell"><use href="#i-rss"><use href="#i-bell"><a href="#i">#i-tag</a>`;
  expect(Array.from(spriteFor(html).matchAll(/id="([^"]+)"/g), ([, id]) => id)).toEqual([
    "i-bell",
    "i-rss",
  ]);
  expect(spriteFor(`<use href="#i-unknown">`)).not.toContain("<symbol");
  expect(spriteFor("<p>&quot;#i-bell&quot;</p>")).toBe("");
});
