import { type FormEvent, useEffect, useRef, useState } from 'react'
import { find, type Hit } from '../api/find-hits.ts'
import { HitTable } from '../parts/frame/hit-table.tsx'
import { recentHits, rememberHit } from '../parts/frame/recent.ts'
import { Empty, Failure, Loading } from '../parts/states.tsx'
import { useLoad } from '../parts/use-load.ts'
import { go, linkTo, useRoute } from '../router.ts'
import { type Session, useSession } from '../session/console-session.ts'

/** The home page: one box that takes any identifier. Enter opens a single hit. */
export function Find() {
  const { query } = useRoute()
  const session = useSession()
  const [text, setText] = useState(query.get('q') ?? '')
  const [opensHit, setOpensHit] = useState(false)
  const box = useRef<HTMLInputElement>(null)
  useEffect(() => box.current?.focus(), [])
  const sought = (query.get('q') ?? '').trim()
  const search = (value: string) => {
    const found = value.trim()
    go(linkTo([], found === '' ? [] : [['q', found]]))
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    setOpensHit(true)
    search(text)
  }
  return (
    <section className="find" aria-label="Find">
      <h1 className="hidden">Find</h1>
      <search>
        <form onSubmit={submit}>
          <label htmlFor="find" className="hidden">
            Find a record
          </label>
          <input
            id="find"
            ref={box}
            type="search"
            value={text}
            autoComplete="off"
            spellCheck={false}
            placeholder="Id, reference, memo, address, fee or withdrawal"
            onKeyDown={(event) => {
              if (event.key === 'ArrowDown') focusHits()
            }}
            onChange={(event) => {
              setText(event.target.value)
              // What was pasted is sought at once; what is typed, at Enter.
              const { inputType } = event.nativeEvent as InputEvent
              if (inputType === 'insertFromPaste') search(event.target.value)
            }}
          />
        </form>
      </search>
      <p className="hint">
        {session.isStaff
          ? 'A complete identifier, or the first six characters of a memo.'
          : 'A complete identifier of one of your records.'}{' '}
        <kbd>/</kbd> comes back here, <kbd>↑</kbd> <kbd>↓</kbd> <kbd>Enter</kbd> select,{' '}
        <kbd>c</kbd> copies the id.
      </p>
      {sought === '' ? (
        <Recent />
      ) : (
        <Hits text={sought} opensHit={opensHit} onOpened={() => setOpensHit(false)} />
      )}
    </section>
  )
}

type HitsProps = {
  readonly text: string
  readonly opensHit: boolean
  readonly onOpened: () => void
}

function Hits({ text, opensHit, onOpened }: HitsProps) {
  const session = useSession()
  const [found, retry] = useLoad(`find ${text}`, (signal) => find(session, text, signal))
  useEffect(() => {
    if (found.state !== 'loaded' || !opensHit) return
    const { hits, more } = found.value
    onOpened()
    const [only] = hits
    if (only !== undefined && hits.length === 1 && !more) openHit(session, only)
    else focusHits()
  }, [found, opensHit, onOpened, session])
  if (found.state === 'loading') return <Loading what="hits" />
  if (found.state === 'failed') return <Failure error={found.error} retry={retry} />
  const { hits, more } = found.value
  if (hits.length === 0) {
    return (
      <Empty>
        Nothing has this identifier. It must be complete, and spelt as it is stored; a memo needs at
        least its first six characters. Account numbers cannot be searched.
      </Empty>
    )
  }
  return (
    <>
      <HitTable label="Hits" hits={hits} onOpen={(hit) => openHit(session, hit)} />
      {more && (
        <p className="hint">There are more hits than these; filter the list of a kind by it.</p>
      )}
    </>
  )
}

/** The table has its rows a moment after it was rendered; its focus is the focus of a row. */
const focusHits = (): void => {
  setTimeout(() => document.querySelector<HTMLElement>('.hits [role="grid"]')?.focus())
}

function Recent() {
  const session = useSession()
  const hits = recentHits(session)
  if (hits.length === 0) return null
  return (
    <section>
      <h2>Recent look-ups</h2>
      <HitTable label="Recent look-ups" hits={hits} onOpen={(hit) => openHit(session, hit)} />
    </section>
  )
}

function openHit(session: Session, hit: Hit): void {
  rememberHit(session, hit)
  const customer: [string, string][] = [['customer', hit.customer_id]]
  go(
    hit.kind === 'fees'
      ? linkTo(['fees'], [['id', hit.id], ...customer])
      : linkTo(['record', hit.kind, hit.id], customer),
  )
}
