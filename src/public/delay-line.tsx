import { toIso } from "../base/time";
import type { Delay, PageContext } from "./page-context";

/** The line by language. "%" is the time. */
const WORDS = {
  en: "Shown as of %. Updates are delayed.",
  da: "Status %. Opdateringer er forsinkede.",
  de: "Stand: %. Aktualisierungen sind verzögert.",
  es: "Estado: %. Las actualizaciones se retrasan.",
  fr: "État : %. Les mises à jour sont retardées.",
  it: "Stato: %. Gli aggiornamenti sono in ritardo.",
  ja: "%時点の情報です。更新が遅れています。",
  nb: "Status: %. Oppdateringer er forsinket.",
  nl: "Stand: %. Updates zijn vertraagd.",
  pl: "Stan: %. Aktualizacje są opóźnione.",
  pt: "Estado: %. As atualizações estão atrasadas.",
  sv: "Läge: %. Uppdateringar är försenade.",
  zh: "数据截至 %。更新有延迟。",
} as const;

type Language = keyof typeof WORDS;

/** Strip above a page of a replica whose data is old. English if there are no words in the page's language. */
export function DelayLine({
  context: { page, times },
  delay: { asOf, now },
}: {
  context: Pick<PageContext, "page" | "times">;
  delay: Delay;
}) {
  const [own = ""] = page.locale.toLowerCase().split("-");
  const language = Object.hasOwn(WORDS, own) ? (own as Language) : "en";
  const iso = toIso(asOf);
  const isToday = iso.slice(0, 10) === toIso(now).slice(0, 10);
  const [before, after] = WORDS[language].split("%");
  return (
    <p class="strip t-maint" role="status" lang={language}>
      {before}
      <time dateTime={iso}>{isToday ? times.clock(iso) : times.moment(iso)}</time>
      {after}
    </p>
  );
}
