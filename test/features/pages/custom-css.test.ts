import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { safeCss } from "../../../src/features/pages/custom-css";

const cssOf = (source: string) => safeCss(source).css;

describe("CSS of a page", () => {
  test.each([
    ["main{color:red}", ".own main{color:red}"],
    [".card, a:is(.x, .y) > b{top:0}", ".own .card,.own a:is(.x,.y)>b{top:0}"],
    ["body > main{color:red}", "body .own main{color:red}"],
    [':root[data-theme="dark"] .card{color:red}', ':root[data-theme="dark"] .own .card{color:red}'],
    ["@media (width<600px){p{color:red}}", "@media (width<600px){.own p{color:red}}"],
    ["@supports (display:grid){p{top:0}}", "@supports (display:grid){.own p{top:0}}"],
    ["@keyframes a{from{top:0}to{top:1px}}", "@keyframes a{from{top:0}to{top:1px}}"],
    [
      "p{background:url(data:image/png;base64,AA)}",
      ".own p{background:url(data:image/png;base64,AA)}",
    ],
    [
      "p{width:calc(1px + var(--a, 2px))!important}",
      ".own p{width:calc(1px + var(--a,2px))!important}",
    ],
  ])("%s styles the content alone", (source, css) => {
    expect(safeCss(source)).toEqual({ css, cut: [] });
  });

  test("a rule for the whole page keeps colours, fonts and custom properties, and loses what could move or hide it", () => {
    expect(cssOf(":root{--accent:#f00;background:#fff;color:#000;font-size:18px}")).toBe(
      ":root .own{--accent:#f00;background:#fff;color:#000;font-size:18px}",
    );
    for (const property of `display visibility opacity position inset top margin margin-top padding transform translate
      filter clip-path mask contain overflow z-index width height min-height float order animation transition content
      box-shadow outline border border-image zoom all isolation`.split(/\s+/)) {
      for (const root of ["html", "body", ":root", "HTML", "html body", "body.x"]) {
        expect(cssOf(`${root}{${property}:inherit}`)).toBe("");
      }
    }
    expect(safeCss("html, p{color:red}").css).toBe("");
  });

  test.each([
    "@import 'https://x.example';",
    "@IMPORT url(x);",
    "@\\69mport 'x';",
    "@font-face{font-family:x;src:url(x)}",
    "@property --maint{syntax:'<color>';inherits:false;initial-value:red}",
    "@page{size:1px}",
    "@layer a{p{color:red}}",
    "@scope (p){a{color:red}}",
    "p{background:url(https://x.example/a)}",
    "p{background:URL('//x.example/a')}",
    "p{background:url(/a.png)}",
    "p{background:\\75rl(https://x.example)}",
    "p{background:u\\72l('x')}",
    "p{background:src('x')}",
    "p{background:image-set('x' 1x)}",
    "p{background:-webkit-image-set(url(x) 1x)}",
    "p{background:cross-fade(url(x),red)}",
    "p{--a:url(https://x.example)}",
    "p{--a:image-set('https://x.example' 1x)}",
    "p{--a:{b:c}}",
    "p{width:expression(alert(1))}",
    "p{behavior:url(#a)}",
    "p{-moz-binding:url(x)}",
    "p{scroll-initial-target:nearest}",
    "p{*color:red}",
    "> p{color:red}",
    "html > {position:fixed}",
    "body ~ /**/ {position:fixed}",
    ":root>>{position:fixed}",
    "html >, p{position:fixed}",
    "html > > p{color:red}",
    "p >{color:red}",
    "p{cursor:url(data:image/png;base64,AA) 0 127,auto}",
    "p{cursor:var(--a),auto}",
    "p{& ~ .strip{color:red}}",
    "& p{color:red}",
    "<!--",
  ])("%s is cut, and the rule after it stays", (source) => {
    const { css, cut } = safeCss(`${source}\nmain{color:red}`);
    expect(css).toBe(".own main{color:red}");
    expect(cut).toHaveLength(1);
    expect(cut[0]).toStartWith("line 1: ");
  });

  test("nothing in it ends the style sheet or stands for a part of the page", () => {
    const css = cssOf(
      "p::after{content:'</style><script>x</script><!--0-->'} a[b='</style>']{color:red}",
    );
    expect(css).not.toMatch(/<[!/]/);
    expect(css).toContain("\\3c /style>");
  });

  test("what was cut is listed by line, at most 20 parts", () => {
    expect(safeCss("p{color:red}\n\n@import 'x';").cut).toEqual([
      "line 3: @import 'x'; (@import is not used)",
    ]);
    expect(safeCss("@a;".repeat(500)).cut).toHaveLength(20);
  });

  test("CSS that is nested thousands of times is cut", () => {
    for (const nested of [
      "p{color:" + "(".repeat(19_000),
      "@media a{".repeat(2_000),
      ":is(".repeat(4_000),
    ]) {
      expect(safeCss(nested).css).not.toContain("p{color:(");
    }
  });

  test("line breaks and byte order marks are those that a browser reads", () => {
    expect(cssOf(".\\7d\r\nx{color:red}.\\7d\rx{color:red}")).not.toContain("\r");
    expect(cssOf(".\\7d\fx{color:red}")).toBe(".own .\\7d\nx{color:red}");
    for (const mark of ["\uFEFF", "\uFFFE"]) {
      for (const selector of [mark, `html ${mark}`, `html > ${mark}`]) {
        const css = cssOf(`main{color:red}${selector}{position:fixed}`);
        expect(css).toStartWith(".own main{color:red}");
        expect(css).not.toContain("position");
      }
    }
  });

  test("CSS is read alike whatever was read before", () => {
    const css = "html(a))~:not(src(main{top:0}";
    safeCss("(".repeat(40));
    const after = safeCss(css);
    safeCss("a");
    expect(safeCss(css)).toEqual(after);
    expect(after).toEqual({ css: "", cut: [`line 1: ${css} (is not a rule)`] });
  });

  test("each selector of any text is one of the content, and no text loads a file", () => {
    const piece = fc.constantFrom(
      ..."html body :root main .strip .own * > + ~ , { } ( ) [ ] ; : url( src( 'x' \" \\ /* */ @media @import (a) --a color red ::before :has( & ! <!-- --> </style> \n".split(
        " ",
      ),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        const { css } = safeCss(pieces.join(" "));
        expect(css).not.toMatch(/url\(|src\(|@import|<[!/]/i);
        for (const [, selectors = ""] of css.matchAll(/(?:^|[{}])([^{}@]+)\{/g)) {
          // Commas in parentheses belong to one selector.
          const list = selectors.replace(/\([^()]*\)/g, "").split(",");
          for (const selector of list) {
            expect(selector).toContain(".own");
            // With a combinator at its end, a rule for a part would be one for the element itself.
            expect(selector).not.toMatch(/[\s>+~]$/);
          }
        }
        // What is sent is read alike again.
        expect(cssOf(css.replaceAll(/\.own /g, "")).replaceAll(".own ", "")).toBe(
          css.replaceAll(".own ", ""),
        );
      }),
      { numRuns: 300 },
    );
  });
});
