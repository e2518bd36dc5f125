import { useMemo, useState } from 'react'
import {
  type History,
  type Read,
  readHistory,
  readReads,
  type Version,
} from '../../api/record-pages.ts'
import type { Kind } from '../../kinds/kind.ts'
import { go, linkTo, useRoute, withParameters } from '../../router.ts'
import { mayReadAudit, type Session, useSession } from '../../session/console-session.ts'
import { groupedCount } from '../../values/amounts.ts'
import { Button } from '../../values/button.tsx'
import { Icon } from '../../values/icon.tsx'
import { useIsUtc } from '../../values/preferences.ts'
import { ShownTime } from '../../values/shown-time.tsx'
import { dayOf } from '../../values/times.ts'
import { counted } from '../attention.tsx'
import { Failure, Loading } from '../states.tsx'
import { useLoad } from '../use-load.ts'
import { ChangedMembers, headOf, iconOf, originText } from '../version-changes.tsx'

type Props = {
  readonly kind: Kind
  readonly id: string
  /** Why the record is shown in full; without it account numbers are masked here too. */
  readonly reason: string | undefined
  readonly createdAt: string
}

/** The versions of a record and, with the right, who saw it in full: newest first. */
export function Timeline({ kind, id, reason: given, createdAt }: Props) {
  const session = useSession()
  const [isFull, setFull] = useState(false)
  // The log has an entry for each look at the versions in full, so it is asked for.
  const reason = isFull ? given : undefined
  const key = `history ${kind.name} ${id} ${reason === undefined ? 'masked' : `full ${reason}`}`
  const [loaded, retry] = useLoad(key, (signal) => readAll(session, kind, id, reason, signal))
  return (
    <section className="card" aria-labelledby="history">
      <header>
        <h2 id="history">History</h2>
        {loaded.state === 'loaded' && (
          <p>
            {counted(loaded.value.history.versions.length, 'version')}
            {hasReads(session, kind) && `, ${counted(loaded.value.reads.length, 'read')}`}
          </p>
        )}
        {kind.isMasked === true && given !== undefined && reason === undefined && (
          <Button className="button small" onClick={() => setFull(true)}>
            Show in full
          </Button>
        )}
      </header>
      <div className="body">
        {loaded.state === 'loading' && <Loading what="the history" lines={4} />}
        {loaded.state === 'failed' && <Failure error={loaded.error} retry={retry} />}
        {loaded.state === 'loaded' && (
          <Entries
            {...loaded.value}
            createdAt={createdAt}
            isMasked={kind.isMasked === true && reason === undefined}
          />
        )}
      </div>
    </section>
  )
}

const hasReads = (session: Session, kind: Kind): boolean =>
  kind.isMasked === true && mayReadAudit(session)

type Told = {
  readonly history: History
  readonly reads: readonly Read[]
  readonly hasMore: boolean
}

async function readAll(
  session: Session,
  kind: Kind,
  id: string,
  reason: string | undefined,
  signal: AbortSignal,
): Promise<Told> {
  const isFull = reason !== undefined
  const versions: Version[] = []
  let part: History | undefined
  do {
    const options = { signal, reason: reason || undefined }
    const page = { cursor: part?.next_page_cursor, isFull }
    part = await readHistory(session, { kind, id }, page, options)
    versions.push(...part.versions)
  } while (part.next_page_cursor !== undefined)
  // Only what lists mask is seen in full by a read that the audit log keeps.
  const { reads, next_page_cursor: next } = hasReads(session, kind)
    ? await readReads(session, { kind, id }, undefined, signal)
    : { reads: [] }
  return { history: { ...part, versions }, reads, hasMore: next !== undefined }
}

type Entry =
  | { readonly at: string; readonly version: Version; readonly before: Version | undefined }
  | { readonly at: string; readonly read: Read }

function Entries(props: Told & { readonly createdAt: string; readonly isMasked: boolean }) {
  const { history, reads, hasMore, createdAt, isMasked } = props
  const isUtc = useIsUtc()
  const entries = useMemo(() => {
    const versions: readonly Entry[] = history.versions.map((version, at) => ({
      at: version.stored_at,
      version,
      before: history.versions[at - 1],
    }))
    const seen: readonly Entry[] = reads.map((read) => ({ at: read.at, read }))
    return [...versions, ...seen].sort((one, other) => (one.at < other.at ? 1 : -1))
  }, [history, reads])
  const since = history.kept_since ?? history.versions[0]?.stored_at
  return (
    <ol className="timeline">
      {entries.map((entry) =>
        'read' in entry ? (
          <ReadEntry key={`read ${entry.at}`} read={entry.read} />
        ) : (
          <VersionEntry
            key={entry.at}
            version={entry.version}
            before={entry.before}
            isMasked={isMasked}
          />
        ),
      )}
      {hasMore && <li className="end">Earlier reads are in the audit log.</li>}
      {since !== undefined && (
        <li className="end">
          <span className="dot">
            <Icon name="clock" />
          </span>
          Kept since {dayOf(since, isUtc)}; earlier states are unknown.
          {createdAt !== '' && ` Created on ${dayOf(createdAt, isUtc)}.`}
        </li>
      )}
    </ol>
  )
}

function ReadEntry({ read }: { readonly read: Read }) {
  const who = read.subject ?? read.client_id ?? 'somebody'
  return (
    <li>
      <span className="dot">
        <Icon name={read.action === 'export' ? 'save' : 'eye'} />
      </span>
      <p className="strong">
        {readText(read)} <ShownTime at={read.at} />
      </p>
      <p className="by-line" title={read.issuer}>
        {who}
      </p>
      {read.reason !== undefined && <p className="diff">“{read.reason}”</p>}
    </li>
  )
}

/** `Seen in full`, `Seen in a list of 50`, `In an export of 412`. */
function readText({ action, shown, rows = 0 }: Read): string {
  if (shown === 'record') return action === 'export' ? 'Exported' : 'Seen in full'
  return `${action === 'export' ? 'In an export of' : 'Seen in a list of'} ${groupedCount(rows)}`
}

type VersionProps = {
  readonly version: Version
  readonly before: Version | undefined
  /** Names the members that lists mask, and does not show them. */
  readonly isMasked: boolean
}

function VersionEntry({ version, before, isMasked }: VersionProps) {
  const { path, query } = useRoute()
  const { stored_at: at, replaced_at: until, withdrawn, changed, record } = version
  const change = { changed, record, before: before?.record, isRemoved: withdrawn === true }
  const isShown = (query.get('as_of') ?? '') === (until === undefined ? '' : at)
  const show = () =>
    go(linkTo(path, withParameters(query, { as_of: until === undefined ? '' : at })))
  return (
    <li>
      <span className="dot v">
        <Icon name={iconOf(change)} />
      </span>
      <p className="strong">
        {headOf(change)} <ShownTime at={at} />
      </p>
      <p className="by-line">{originText(version.origin)}</p>
      <ChangedMembers {...change} isMasked={isMasked} />
      {withdrawn !== true && !isShown && (
        <Button className="button plain small" onClick={show}>
          {until === undefined ? 'Show the current state' : 'Show as of then'}
        </Button>
      )}
    </li>
  )
}
