import { useEffect, useLayoutEffect, useRef, useState } from 'react'
import { isWide, type RowPage, readRows, rowsPath } from '../api/list-rows.ts'
import type { ListRequest } from '../api/record-pages.ts'
import type { Kind, Row } from '../kinds/kind.ts'
import { kindNamed } from '../kinds/kinds.ts'
import { base } from '../page-settings.ts'
import { useAttention } from '../parts/attention.tsx'
import { CopyButton } from '../parts/copy.tsx'
import { useCustomer, useCustomerName } from '../parts/customer-names.tsx'
import { PageHeading } from '../parts/heading.tsx'
import { ColumnChoice, useColumns } from '../parts/list/column-choice.tsx'
import { EmptyList } from '../parts/list/empty-list.tsx'
import { ExportButtons } from '../parts/list/export-buttons.tsx'
import { FilterChips } from '../parts/list/filter-chips.tsx'
import { FullView } from '../parts/list/full-view.tsx'
import { Pager } from '../parts/list/pager.tsx'
import { RecordCards } from '../parts/list/record-cards.tsx'
import { RecordTable } from '../parts/list/record-table.tsx'
import { SavedViews } from '../parts/list/saved-views.tsx'
import { SelectionBar, useSelection } from '../parts/list/selection.tsx'
import { CustomerChart, ShortfallLine, ShortfallSide } from '../parts/list/statement-side.tsx'
import { ViewTabs } from '../parts/list/view-tabs.tsx'
import { useIsNarrow } from '../parts/narrow.ts'
import { PastFailure } from '../parts/past.tsx'
import { Loading, NoScreen } from '../parts/states.tsx'
import { noteTrail, recordLink } from '../parts/trail.ts'
import { useLoad } from '../parts/use-load.ts'
import { type Changes, go, linkTo, restoreScroll, useRoute, withParameters } from '../router.ts'
import { useSession } from '../session/console-session.ts'
import { Button } from '../values/button.tsx'

/** A list of one customer or of all, with the filters, the order and the pages of the server. */
export function RecordList() {
  const { path } = useRoute()
  const kind = kindNamed(path[1])
  const customerId = useCustomer()
  const session = useSession()
  if (kind === undefined) return <NoScreen>There is no such list.</NoScreen>
  if (customerId === '' && !session.isStaff) return <NoScreen>Choose a customer.</NoScreen>
  return <List key={customerId} kind={kind} customerId={customerId} />
}

/** More rows at first would keep a browser busy for longer than a person notices. */
const ROWS_AT_FIRST = '50'

/** What the API gets of the query: not the customer, which is in the path. */
function apiQuery(query: URLSearchParams): URLSearchParams {
  const sent = new URLSearchParams(query)
  sent.delete('customer')
  if (!sent.has('limit')) sent.set('limit', ROWS_AT_FIRST)
  return sent
}

function List({ kind, customerId }: { readonly kind: Kind; readonly customerId: string }) {
  const session = useSession()
  const { path, query } = useRoute()
  const nameOf = useCustomerName()
  const [attention] = useAttention()
  const { isFull, reason, showInFull, follow } = useFullView()
  // A cursor of the view in full is none of the masked one.
  const masked = { view: undefined, page_cursor: undefined }
  const isMaskedAgain = query.has('view') && !isFull
  const shown = isMaskedAgain ? withParameters(query, masked) : query
  const wanted: ListRequest = { kind, customerId, query: apiQuery(shown) }
  const wide = isWide(session, wanted)
  const linkWith = (changes: Changes) =>
    linkTo(path, withParameters(shown, { page_cursor: undefined, ...changes }))
  const change = (changes: Changes) => follow(linkWith(changes))
  const sums = attention.state === 'loaded' ? (attention.value?.shortfalls ?? []) : []
  const isShort = query.get('shortfall') === 'true'
  const title = customerId === '' ? kind.title : `${kind.title} of ${nameOf(customerId)}`
  return (
    <section aria-label={kind.title}>
      <div className="page-head">
        <PageHeading title={title} />
        <span className="grow" />
        {kind.isMasked === true && !wide && (
          <FullView
            isFull={isFull}
            onFull={(given) => showInFull(linkWith({ view: 'full' }), given)}
            onMasked={() => change(masked)}
          />
        )}
        <ColumnChoice kind={kind} />
        <SavedViews kind={kind} query={query} />
        <ExportButtons wanted={wanted} columns={exportColumns(kind, customerId)} reason={reason} />
        <span className="wide-only">
          <CopyButton
            label="Copy as curl"
            text={curlOf(base + rowsPath(session, wanted), reason)}
          />
        </span>
        <Button className="button wide-only" data-key="p" onClick={() => print()}>
          Print
        </Button>
      </div>
      <ViewTabs kind={kind} />
      <FilterChips
        kind={kind}
        query={query}
        customerId={customerId}
        isWide={wide}
        assets={sums.map(({ asset }) => asset)}
        onChange={change}
      />
      {wide && query.has('as_of') && (
        <p className="soft">This list is of now. Choose a customer to see it as of another time.</p>
      )}
      {isShort && <ShortfallLine asset={query.get('asset') ?? ''} />}
      <LoadedRows wanted={wanted} isWide={wide} reason={reason} onChange={change} />
    </section>
  )
}

/**
 * Shows a list in full only at a link that this screen has made after a person asked for it. A link
 * that is opened, and one that the browser opens again, is masked.
 */
function useFullView() {
  const { path, query } = useRoute()
  const link = linkTo(path, query)
  const [full, setFull] = useState<{
    readonly link: string
    readonly reason?: string | undefined
  }>()
  const isFull = full?.link === link && query.get('view') === 'full'
  useEffect(() => setFull((known) => (known?.link === link ? known : undefined)), [link])
  return {
    isFull,
    reason: isFull ? full.reason : undefined,
    showInFull: (next: string, reason: string | undefined) => {
      go(next)
      setFull({ link: next, reason })
    },
    follow: (next: string) => {
      go(next)
      if (isFull) setFull({ ...full, link: next })
    },
  }
}

type LoadedRowsProps = {
  readonly wanted: ListRequest
  readonly isWide: boolean
  readonly reason: string | undefined
  readonly onChange: (changes: Changes) => void
}

/** The rows and what stands beside them. The head of the list is not drawn again with them. */
function LoadedRows({ wanted, isWide: wide, reason, onChange }: LoadedRowsProps) {
  const { kind, customerId, query } = wanted
  const session = useSession()
  const isNarrow = useIsNarrow()
  const [loaded, retry] = useLoad(`${rowsPath(session, wanted)} ${reason ?? ''}`, (signal) =>
    readRows(session, wanted, { signal, reason }),
  )
  const isShort = query.get('shortfall') === 'true'
  // On a phone the chart comes after the cards; elsewhere it has its place from the beginning.
  const hasChart =
    kind.name === 'statements' &&
    !isShort &&
    customerId !== '' &&
    (!isNarrow || loaded.state === 'loaded')
  return (
    <div className={kind.name === 'statements' ? 'list-split' : ''}>
      <section className="card" aria-label="Records">
        <button type="button" className="sr" data-key="r" tabIndex={-1} onClick={retry}>
          Refresh
        </button>
        {loaded.state === 'loading' && <Loading what={kind.title.toLowerCase()} />}
        {loaded.state === 'failed' && (
          <PastFailure error={loaded.error} retry={retry} asOf={query.get('as_of') ?? ''} />
        )}
        {loaded.state === 'loaded' && (
          <Rows wanted={wanted} isWide={wide} page={loaded.value} onChange={onChange} />
        )}
      </section>
      {kind.name === 'statements' && isShort && <ShortfallSide asset={query.get('asset') ?? ''} />}
      {hasChart && <CustomerChart wanted={wanted} />}
    </div>
  )
}

/** A file of all customers says whose each row is. */
const exportColumns = (kind: Kind, customerId: string) =>
  customerId === '' ? [customerColumn((id) => id), ...kind.columns] : kind.columns

const customerColumn = (nameOf: (id: string) => string): Kind['columns'][number] => ({
  name: 'customer_id',
  title: 'Customer',
  member: 'customer_id',
  text: (_record, row) => row.customerId,
  cell: ({ customerId }) => <span title={customerId}>{nameOf(customerId)}</span>,
})

type RowsProps = {
  readonly wanted: ListRequest
  readonly isWide: boolean
  readonly page: RowPage
  readonly onChange: (changes: Changes) => void
}

function Rows({ wanted, isWide: wide, page, onChange }: RowsProps) {
  const { kind, customerId } = wanted
  const { query } = useRoute()
  const nameOf = useCustomerName()
  const isNarrow = useIsNarrow()
  const wrap = useRef<HTMLDivElement>(null)
  // A table that fits keeps its headings in sight; one that does not scrolls by itself.
  useEffect(() => {
    const box = wrap.current
    if (isNarrow || box === null) return undefined
    // Unlike an effect that measures, it makes the browser lay out nothing.
    const observer = new ResizeObserver(() =>
      box.classList.toggle('scrolls', box.scrollWidth > box.clientWidth),
    )
    for (const part of [box, ...box.children]) observer.observe(part)
    return () => observer.disconnect()
  }, [isNarrow])
  const [selected, clear] = useSelection(page)
  const chosen = useColumns(kind)
  const isShort = query.get('shortfall') === 'true'
  const shown = chosen.filter(({ isOfShortfalls }) => isOfShortfalls !== true || isShort)
  const columns = customerId === '' ? [customerColumn(nameOf), ...shown] : shown
  const asOf = query.get('as_of') ?? ''
  const linkOf = (row: Row) => recordLink(kind.name, row.record.id, row.customerId, asOf)
  // biome-ignore lint/correctness/useExhaustiveDependencies: a page is noted once, when it is here.
  useLayoutEffect(() => {
    restoreScroll()
    // Not before the rows are drawn.
    let timer: ReturnType<typeof setTimeout>
    const frame = requestAnimationFrame(() => {
      timer = setTimeout(() => noteTrail({ link: location.hash, kind: kind.name, asOf }, page.rows))
    })
    return () => {
      cancelAnimationFrame(frame)
      clearTimeout(timer)
    }
  }, [page])
  if (page.rows.length === 0) return <EmptyList wanted={wanted} isWide={wide} onChange={onChange} />
  const byTime = kind.name === 'statements' ? 'PERIOD_START' : 'CREATED_AT'
  const orderBy = query.get('order_by') ?? (isShort ? 'SHORTFALL' : byTime)
  const caption = `${page.rows.length} ${kind.plural} of this page, in the order of the server`
  return (
    <>
      {isNarrow ? (
        <RecordCards
          kind={kind}
          caption={caption}
          rows={page.rows}
          selected={selected}
          isWide={customerId === ''}
          linkOf={linkOf}
        />
      ) : (
        <div className="table-wrap" ref={wrap}>
          <RecordTable
            kind={kind}
            caption={caption}
            columns={columns}
            rows={page.rows}
            selected={selected}
            linkOf={linkOf}
            orderBy={orderBy}
            isAscending={query.get('order') === 'ASC'}
          />
        </div>
      )}
      <SelectionBar ids={selected} onClear={clear} />
      <Pager wanted={wanted} page={page} isWide={wide} onChange={onChange} />
    </>
  )
}

/** The command has no token: it reads a variable of the shell into which it is pasted. */
const curlOf = (url: string, reason: string | undefined): string => {
  const shown = reason === undefined ? '' : ` -H 'Access-Reason: ${quotable(reason)}'`
  return `curl -H "Authorization: Bearer $TOKEN"${shown} '${url.replaceAll("'", '%27')}'`
}

const quotable = (text: string) => encodeURIComponent(text).replaceAll("'", '%27')
