import {
  changeValueInWords,
  type ImportChange,
  type ImportItem,
  typeInWords,
  VERDICT_MEANINGS,
} from "../../base/import-report";
import { capitalised, plural } from "../../base/text";
import {
  Cell,
  CellNote,
  FilterSelect,
  ListCard,
  ListToolbar,
  Row,
  RowLink,
  Table,
} from "../../ui/list";
import { EmptyState, Shape, State } from "../../ui/blocks";
import { Pagination, Tabs } from "../../ui/navigation";
import { type ItemListing, itemsPath, nextPath } from "./listing";
import { VERDICT_ORDER, VERDICT_WORDS } from "./verdicts";

const COLUMNS = [
  { label: "Verdict" },
  { label: "In the source" },
  { label: "Becomes" },
  { label: "Differences and reason" },
];

interface ItemsProps {
  list: ItemListing;
  /** Paths of the screens of objects that exist here, by id. */
  links: ReadonlyMap<string, string>;
}

/** Objects of a plan or a report, with filters by verdict and kind. */
export function Items({ list, links }: ItemsProps) {
  const { items, verdict, from } = list;
  return (
    <>
      <VerdictTabs list={list} />
      <ListCard>
        <ItemToolbar list={list} />
        {verdict === undefined ? null : <p class="detail-body hint">{VERDICT_MEANINGS[verdict]}</p>}
        {items.length === 0 ? (
          <EmptyState title="No objects here">
            The source has none of this kind with this verdict.
          </EmptyState>
        ) : (
          <Table columns={COLUMNS} caption="Objects of the source" isInCard>
            {items.map((item) => (
              <ItemRow key={`${item.foreign.type}:${item.foreign.id}`} item={item} links={links} />
            ))}
          </Table>
        )}
        <Pagination
          newestHref={from === 0 ? undefined : itemsPath(list)}
          olderHref={nextPath(list)}
          newest="First"
          older="Next"
        />
      </ListCard>
    </>
  );
}

function VerdictTabs({ list }: { list: ItemListing }) {
  const shown = VERDICT_ORDER.filter((each) => each === list.verdict || list.counts.has(each));
  return (
    <div id="import-verdicts">
      <Tabs
        label="Objects by verdict"
        items={[
          {
            href: itemsPath(list, { verdict: undefined }),
            label: "All",
            count: list.total,
            isCurrent: list.verdict === undefined,
          },
          ...shown.map((verdict) => {
            const { label, tone, isPaused } = VERDICT_WORDS[verdict];
            return {
              href: itemsPath(list, { verdict }),
              label,
              shape: <Shape tone={tone} {...(isPaused ? { isPaused } : {})} />,
              count: list.counts.get(verdict) ?? 0,
              isCurrent: list.verdict === verdict,
            };
          }),
        ]}
      />
    </div>
  );
}

function ItemToolbar({ list }: { list: ItemListing }) {
  const { home, verdict, type, types, matching, from, items } = list;
  const isPart = items.length < matching;
  const count = isPart
    ? `${(from + 1).toLocaleString("en")} to ${(from + items.length).toLocaleString("en")} of ${plural(matching, "object")}`
    : plural(matching, "object");
  return (
    <ListToolbar
      action={home}
      hidden={verdict === undefined ? {} : { verdict }}
      clearHref={type === undefined ? undefined : itemsPath(list, { type: undefined })}
      count={count}
    >
      <FilterSelect
        label="Kind"
        name="type"
        options={[
          { value: "", label: "Every kind" },
          ...types.map((value) => ({ value, label: capitalised(typeInWords(value)[1]) })),
        ]}
        value={type ?? ""}
      />
    </ListToolbar>
  );
}

function ItemRow({ item, links }: { item: ImportItem; links: ReadonlyMap<string, string> }) {
  const { verdict, foreign, target, changes, reason } = item;
  const { label, tone, isPaused } = VERDICT_WORDS[verdict];
  const link = target?.id ? links.get(target.id) : undefined;
  return (
    <Row>
      <Cell label="Verdict">
        <span class="nowrap">
          <State tone={tone} {...(isPaused ? { isPaused } : {})}>
            {label}
          </State>
        </span>
      </Cell>
      <Cell label="In the source">
        <span class="item-name">{foreign.name}</span>
        <CellNote>{capitalised(typeInWords(foreign.type)[0])}</CellNote>
      </Cell>
      <Cell label="Becomes">
        {target === null ? (
          <span class="quiet-text">Nothing</span>
        ) : (
          <>
            {link === undefined ? (
              <span>{target.name}</span>
            ) : (
              <RowLink href={link}>{target.name}</RowLink>
            )}
            <CellNote>{capitalised(target.kind)}</CellNote>
          </>
        )}
      </Cell>
      <Cell label="Differences and reason">
        {reason === null ? null : <p>{reason}</p>}
        {changes.length === 0 ? null : (
          <ul class="plain-list">
            {changes.map((change, index) => (
              // Two changes may be about one field.
              <Change key={index} change={change} />
            ))}
          </ul>
        )}
        {reason === null && changes.length === 0 ? <span class="quiet-text">None</span> : null}
      </Cell>
    </Row>
  );
}

function Change({ change: { field, from, to, reason } }: { change: ImportChange }) {
  return (
    <li>
      <code>{field}</code>: {changeValueInWords(from)} → {changeValueInWords(to)}
      <CellNote>{reason}</CellNote>
    </li>
  );
}
