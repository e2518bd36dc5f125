import { useState } from 'react'
import { Button } from 'react-aria-components'
import { readHistory, type Version } from '../../api/record-pages.ts'
import type { Kind } from '../../kinds/kind.ts'
import { memberText } from '../../kinds/record-members.ts'
import { go, linkTo, useRoute, withParameters } from '../../router.ts'
import { useSession } from '../../session/console-session.ts'
import { Time } from '../../values/time.tsx'
import { Failure, Loading } from '../states.tsx'
import { useLoad } from '../use-load.ts'

type Props = {
  readonly kind: Kind
  readonly id: string
  /** Why the record is shown in full; without it account numbers are masked here too. */
  readonly reason: string | undefined
}

/** The versions of a record, newest first, with the members that each one changed. */
export function RecordHistory({ kind, id, reason }: Props) {
  const session = useSession()
  const [isOpen, setOpen] = useState(false)
  return (
    <section aria-label="History">
      <h2>History</h2>
      {isOpen ? (
        <Versions kind={kind} id={id} reason={reason} key={session.key} />
      ) : (
        <Button onPress={() => setOpen(true)}>Show history</Button>
      )}
    </section>
  )
}

function Versions({ kind, id, reason }: Props) {
  const session = useSession()
  const [loaded, retry] = useLoad(`history ${kind.name} ${id} ${reason ?? ''}`, async (signal) => {
    const versions: Version[] = []
    let cursor: string | undefined
    do {
      const options = { signal, reason: reason || undefined }
      const part = await readHistory(session, kind, id, cursor, options)
      versions.push(...part.versions)
      cursor = part.next_page_cursor
    } while (cursor !== undefined)
    return versions
  })
  if (loaded.state === 'loading') return <Loading what="the history" />
  if (loaded.state === 'failed') return <Failure error={loaded.error} retry={retry} />
  const versions = loaded.value
  return (
    <ol className="versions">
      {versions.toReversed().map((version, at) => (
        <OneVersion
          key={version.stored_at}
          version={version}
          before={versions[versions.length - at - 2]}
          isMasked={kind.isMasked === true && reason === undefined}
        />
      ))}
    </ol>
  )
}

type VersionProps = {
  readonly version: Version
  readonly before: Version | undefined
  /** Names the members that lists mask, and does not show them. */
  readonly isMasked: boolean
}

function OneVersion(props: VersionProps) {
  const { path, query } = useRoute()
  const { stored_at: at, origin, withdrawn, changed, record, replaced_at: until } = props.version
  const show = () =>
    go(linkTo(path, withParameters(query, { as_of: until === undefined ? '' : at })))
  return (
    <li>
      <p>
        <Time at={at} /> {withdrawn === true && 'withdrawn'}{' '}
        <span className="hint">{originText(origin)}</span>{' '}
        {withdrawn !== true && (
          <Button onPress={show}>{until === undefined ? 'Show now' : 'Show as of then'}</Button>
        )}
      </p>
      {props.before === undefined && <p>The oldest version that is kept.</p>}
      <div className="changes">
        <dl>
          {changed.map((member) => (
            <div key={member}>
              <dt>{member}</dt>
              {props.isMasked && maskedMembers.test(member) ? (
                <dd className="hint">changed; show the full account number to see it</dd>
              ) : (
                <dd>
                  <del>{shown(memberText(props.before?.record, member))}</del>{' '}
                  <span aria-hidden="true">→</span> <ins>{shown(memberText(record, member))}</ins>
                </dd>
              )}
            </div>
          ))}
        </dl>
      </div>
    </li>
  )
}

const maskedMembers = /^fiat_(network_instructions|account_owner)/

const shown = (text: string): string => (text === '' ? '(none)' : text)

function originText(origin: Version['origin']): string {
  const { command, client_id: client, file, user, line } = origin
  if (command === undefined) return 'of unknown origin'
  const place = file === undefined ? `by ${client}` : `from ${file} by ${user}`
  return `${command} ${place}${line === undefined ? '' : `, line ${line}`}`
}
