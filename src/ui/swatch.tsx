/** A colour (`#rrggbb`) as it looks, beside how it is written. */
export function Swatch({ colour }: { colour: string }) {
  return (
    <span class="swatch">
      <svg viewBox="0 0 16 16" aria-hidden="true">
        <rect width="16" height="16" rx="4" fill={colour} />
      </svg>
      <code>{colour}</code>
    </span>
  );
}
