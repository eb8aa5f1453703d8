/** The name with its mark: a ring whose gap closes when all is well. */
export function WordMark({ isClear = true }: { isClear?: boolean }) {
  return (
    <span class="word-mark">
      <svg viewBox="0 0 24 24" width="22" height="22" aria-hidden="true">
        <circle cx="12" cy="12" r="9" class={isClear ? undefined : "is-open"} />
      </svg>
      Allclear
    </span>
  );
}
