import type { ComponentChildren } from "preact";
import type { Block } from "../imports/coming-from";
import { toRef } from "../base/text";
import { type HtmlDocument, renderDocument } from "../ui/documents";
import css from "./css/coming-from.css" with { type: "text" };

/** Renders the documentation for people who come from another product. */
export function renderComingFrom(blocks: readonly Block[]): HtmlDocument {
  const chapters = blocks.filter((block) => block.kind === "heading" && block.level === 2);
  return renderDocument({
    title: "Coming from another product · Allclear",
    css,
    children: (
      <main class="column coming-from">
        <nav aria-label="Documentation">
          <a href="/docs">API reference</a> · <a href="/docs/errors">Errors</a>
          {chapters.map((block) =>
            block.kind === "heading" ? (
              <>
                {" · "}
                <a href={`#${toRef(block.text)}`}>{block.text}</a>
              </>
            ) : null,
          )}
        </nav>
        {blocks.map((block, index) => (
          <BlockView key={index} block={block} />
        ))}
      </main>
    ),
  });
}

function BlockView({ block }: { block: Block }) {
  switch (block.kind) {
    case "heading": {
      const Heading = `h${block.level}` as const;
      return <Heading id={toRef(block.text)}>{block.text}</Heading>;
    }
    case "text":
      return <p>{inline(block.text)}</p>;
    case "steps":
      return (
        <ol>
          {block.steps.map(({ text, code }) => (
            <li key={text}>
              {inline(text)}
              {code === undefined ? null : <Code text={code} />}
            </li>
          ))}
        </ol>
      );
    case "points":
      return (
        <ul>
          {block.points.map((text) => (
            <li key={text}>{inline(text)}</li>
          ))}
        </ul>
      );
    case "table":
      return (
        <div class="wide" tabIndex={0} role="group" aria-label={block.head.join(", ")}>
          <table>
            <thead>
              <tr>
                {block.head.map((text) => (
                  <th key={text} scope="col">
                    {text}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {block.rows.map(([there, here]) => (
                <tr key={there}>
                  <td>{inline(there)}</td>
                  <td>{inline(here)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      );
  }
}

function Code({ text }: { text: string }) {
  return (
    <pre tabIndex={0}>
      <code>{text}</code>
    </pre>
  );
}

/** Returns a text whose parts between backticks are code. */
function inline(text: string): ComponentChildren {
  return text.split("`").map((part, index) => (index % 2 === 1 ? <code>{part}</code> : part));
}
