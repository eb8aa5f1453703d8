/** Names of colours in badges that differ from those of CSS. */
const BADGE_COLOURS: Readonly<Record<string, string>> = {
  brightgreen: "#4c1",
  green: "#97ca00",
  yellow: "#dfb317",
  yellowgreen: "#a4a61d",
  orange: "#fe7d37",
  red: "#e05d44",
  blue: "#007ec6",
  grey: "#555",
  gray: "#555",
  lightgrey: "#9f9f9f",
  lightgray: "#9f9f9f",
};

/** Other names of colours in CSS. */
const CSS_COLOURS: ReadonlySet<string> = new Set(
  `aliceblue antiquewhite aqua aquamarine azure beige bisque black blanchedalmond blueviolet brown burlywood
  cadetblue chartreuse chocolate coral cornflowerblue cornsilk crimson cyan darkblue darkcyan darkgoldenrod
  darkgray darkgreen darkgrey darkkhaki darkmagenta darkolivegreen darkorange darkorchid darkred darksalmon
  darkseagreen darkslateblue darkslategray darkslategrey darkturquoise darkviolet deeppink deepskyblue dimgray
  dimgrey dodgerblue firebrick floralwhite forestgreen fuchsia gainsboro ghostwhite gold goldenrod greenyellow
  honeydew hotpink indianred indigo ivory khaki lavender lavenderblush lawngreen lemonchiffon lightblue lightcoral
  lightcyan lightgoldenrodyellow lightgreen lightpink lightsalmon lightseagreen lightskyblue lightslategray
  lightslategrey lightsteelblue lightyellow lime limegreen linen magenta maroon mediumaquamarine mediumblue
  mediumorchid mediumpurple mediumseagreen mediumslateblue mediumspringgreen mediumturquoise mediumvioletred
  midnightblue mintcream mistyrose moccasin navajowhite navy oldlace olive olivedrab orangered orchid
  palegoldenrod palegreen paleturquoise palevioletred papayawhip peachpuff peru pink plum powderblue purple
  rebeccapurple rosybrown royalblue saddlebrown salmon sandybrown seagreen seashell sienna silver skyblue slateblue
  slategray slategrey snow springgreen steelblue tan teal thistle tomato turquoise violet wheat white
  whitesmoke`.split(/\s+/),
);

const HEX = /^#?((?:[0-9a-f]{3}){1,2})$/i;

/** Returns a colour for SVG from a name or hexadecimal digits; undefined for any other text. */
export function readColour(text: string): string | undefined {
  const [, digits] = HEX.exec(text) ?? [];
  if (digits !== undefined) return `#${digits.toLowerCase()}`;
  const name = text.toLowerCase();
  if (Object.hasOwn(BADGE_COLOURS, name)) return BADGE_COLOURS[name];
  return CSS_COLOURS.has(name) ? name : undefined;
}

/** Returns the colour of an uptime from 0 to 1: red to green. */
export function uptimeColour(uptime: number): string {
  const hue = 10 + 80 * uptime;
  const [saturation, lightness] = [0.9, 0.4];
  const channel = (offset: number) => {
    const k = (offset + hue / 30) % 12;
    const amount = saturation * Math.min(lightness, 1 - lightness);
    const value = lightness - amount * Math.max(-1, Math.min(k - 3, 9 - k, 1));
    return Math.round(value * 255)
      .toString(16)
      .padStart(2, "0");
  };
  return `#${channel(0)}${channel(8)}${channel(4)}`;
}
