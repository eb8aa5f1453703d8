import { safeHref } from "./safe-href";

interface LogoProps {
  /** A path of this site. */
  src: string;
  /** Name of the page. */
  alt: string;
  /** Its size in pixels. */
  width: number;
  height: number;
}

/** A page's own logo, as it is shown to those who manage it: whole, and never larger than it is. */
export function Logo({ src, ...image }: LogoProps) {
  return (
    <p class="logo">
      <img src={safeHref(src)} {...image} />
    </p>
  );
}
