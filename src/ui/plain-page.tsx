import type { ComponentChildren } from "preact";
import { WordMark } from "./pictures";

interface PlainPageProps {
  /** The page's heading. */
  title: string;
  /** Small, below the card. */
  foot?: ComponentChildren;
  children: ComponentChildren;
}

/** One card, and nothing around it to go to: for whoever is not signed in, or got lost. */
export function PlainPage({ title, foot, children }: PlainPageProps) {
  return (
    <main class="plain">
      <WordMark />
      <div class="card plain-card">
        <h1>{title}</h1>
        {children}
      </div>
      {foot ? <p class="plain-foot">{foot}</p> : null}
    </main>
  );
}
