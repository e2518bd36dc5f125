import { type FormEvent, useState } from 'react'
import { Button } from 'react-aria-components'
import { type Page, pagePath, readPage } from '../api/record-pages.ts'
import type { Kind } from '../kinds/kind.ts'
import { kindNamed } from '../kinds/kinds.ts'
import { base } from '../page-settings.ts'
import { CopyButton } from '../parts/copy.tsx'
import { useCustomer } from '../parts/frame/customer-switch.tsx'
import { ColumnChoice, useColumns } from '../parts/list/column-choice.tsx'
import { ExportButton } from '../parts/list/export-button.tsx'
import { Filters } from '../parts/list/filter-bar.tsx'
import { ListCharts } from '../parts/list/list-charts.tsx'
import { RecordTable } from '../parts/list/record-table.tsx'
import { SavedViews } from '../parts/list/saved-views.tsx'
import { ReasonDialog } from '../parts/record/reason-dialog.tsx'
import { Empty, Failure, Loading, NoScreen } from '../parts/states.tsx'
import { useLoad } from '../parts/use-load.ts'
import { go, linkTo, placeOf, useRoute, withParameters } from '../router.ts'
import { maySeeInFull, useSession } from '../session/console-session.ts'
import { Time } from '../values/time.tsx'

/** The list of a customer, with the filters, the order and the paging of the API. */
export function RecordList() {
  const { path } = useRoute()
  const kind = kindNamed(path[1])
  const customerId = useCustomer()
  if (kind === undefined) return <NoScreen>There is no such list.</NoScreen>
  return (
    <section aria-label={kind.title}>
      <h1>
        {kind.title}
        {customerId !== '' && ` of ${customerId}`}
      </h1>
      {customerId === '' ? (
        <Empty>Choose a customer above, or find one of its records first.</Empty>
      ) : (
        <CustomerList key={customerId} kind={kind} customerId={customerId} />
      )}
    </section>
  )
}

/** More rows at first would keep a browser busy for longer than a person notices. */
const ROWS_AT_FIRST = '50'

/** What the API gets of the query: not the customer, which is in the path, nor the sorting. */
function apiQuery(query: URLSearchParams): URLSearchParams {
  const sent = new URLSearchParams(query)
  for (const name of ['customer', 'sort']) sent.delete(name)
  if (!sent.has('limit')) sent.set('limit', ROWS_AT_FIRST)
  return sent
}

function CustomerList({ kind, customerId }: { readonly kind: Kind; readonly customerId: string }) {
  const session = useSession()
  const { path, query } = useRoute()
  const [reason, setReason] = useState<string>()
  const columns = useColumns(kind)
  const wanted = { kind, customerId, query: apiQuery(query) }
  // A view in full that was opened by its link asks for the reason again.
  const lacksReason = query.get('view') === 'full' && session.isPerson && reason === undefined
  if (lacksReason) wanted.query.delete('view')
  const [loaded, retry] = useLoad(`${pagePath(session, wanted)} ${reason ?? ''}`, (signal) =>
    readPage(session, wanted, { signal, reason }),
  )
  const change = (changes: Readonly<Record<string, string | undefined>>) =>
    go(linkTo(path, withParameters(query, { page_cursor: undefined, ...changes })))
  return (
    <>
      {kind.name === 'fiat-deposit-instructions' && session.isStaff && <MemoForm />}
      <Filters key={query.toString()} kind={kind} query={query} onChange={change} />
      <div className="toolbar">
        {kind.isMasked === true && session.isStaff && maySeeInFull(session) && (
          <FullView query={query} onChange={change} reason={reason} onReason={setReason} />
        )}
        <ColumnChoice kind={kind} />
        <SavedViews kind={kind} query={query} />
        <ExportButton wanted={wanted} reason={reason} />
        <CopyButton label="Copy as curl" text={curlOf(base + pagePath(session, wanted), reason)} />
        <Button onPress={() => print()}>Print</Button>
      </div>
      {loaded.state === 'loading' && <Loading what={kind.title.toLowerCase()} />}
      {loaded.state === 'failed' && <Failure error={loaded.error} retry={retry} />}
      {loaded.state === 'loaded' && (
        <>
          <ListCharts kind={kind} records={loaded.value.records} />
          {!isWhole(loaded.value, query) && (
            <p className="hint">
              In the order of the list. A column sorts where one page holds all rows.
            </p>
          )}
          <RecordTable
            kind={kind}
            columns={columns}
            records={loaded.value.records}
            isWhole={isWhole(loaded.value, query)}
            sort={query.get('sort') ?? ''}
            onSort={(chosen) => go(linkTo(path, withParameters(query, { sort: chosen })))}
            onOpen={(id) => go(linkTo(['record', kind.name, id], placeOf(query)))}
          />
          <Paging page={loaded.value} onChange={change} />
        </>
      )}
    </>
  )
}

/** Whether a page has all rows that match. */
const isWhole = ({ next }: Page, query: URLSearchParams): boolean =>
  next === undefined && !query.has('page_cursor')

/** The command has no token: it reads a variable of the shell into which it is pasted. */
const curlOf = (url: string, reason: string | undefined): string => {
  const shown = reason === undefined ? '' : ` -H 'Access-Reason: ${quotable(reason)}'`
  return `curl -H "Authorization: Bearer $TOKEN"${shown} '${url.replaceAll("'", '%27')}'`
}

const quotable = (text: string) => encodeURIComponent(text).replaceAll("'", '%27')

type FullViewProps = {
  readonly query: URLSearchParams
  readonly reason: string | undefined
  readonly onReason: (reason: string) => void
  readonly onChange: (changes: Readonly<Record<string, string | undefined>>) => void
}

/** Shows the list in full, or masked as its customer sees it. */
function FullView({ query, reason, onReason, onChange }: FullViewProps) {
  const { isPerson } = useSession()
  const [isAsking, setAsking] = useState(false)
  const isFull = query.get('view') === 'full'
  const lacksReason = isPerson && reason === undefined
  if (isFull && !lacksReason) {
    return <Button onPress={() => onChange({ view: undefined })}>Show as they see it</Button>
  }
  return (
    <>
      <Button onPress={() => (lacksReason ? setAsking(true) : onChange({ view: 'full' }))}>
        Show in full
      </Button>
      <ReasonDialog
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        onReason={(given) => {
          onReason(given)
          onChange({ view: 'full' })
        }}
      />
    </>
  )
}

/** Finds a wire whose memo is known in part, with all customers. */
function MemoForm() {
  const find = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    go(linkTo([], [['q', String(new FormData(event.currentTarget).get('memo')).trim()]]))
  }
  return (
    <form className="row" onSubmit={find}>
      <label>
        Find a wire by the start of its memo
        <input name="memo" required minLength={6} autoComplete="off" spellCheck={false} />
      </label>
      <Button type="submit">Find</Button>
    </form>
  )
}

function Paging(props: {
  readonly page: Page
  readonly onChange: (changes: Readonly<Record<string, string | undefined>>) => void
}) {
  const { records, next, asOf } = props.page
  const { query } = useRoute()
  return (
    <div className="toolbar paging">
      <span className="hint" role="status">
        {records.length} on this page{asOf !== undefined && ', as of '}
        {asOf !== undefined && <Time at={asOf} />}
      </span>
      <span className="spacer" />
      <Button
        isDisabled={!query.has('page_cursor')}
        onPress={() => props.onChange({ page_cursor: undefined })}
      >
        First page
      </Button>
      <Button isDisabled={next === undefined} onPress={() => props.onChange({ page_cursor: next })}>
        Next page
      </Button>
    </div>
  )
}
