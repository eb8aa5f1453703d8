/** The mark as a picture of its own, for favicons: a ring in the given colour. */
export function ringIcon(colour: string): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><circle cx="8" cy="8" r="5.5" fill="none" stroke="${colour}" stroke-width="3"/></svg>`;
}
