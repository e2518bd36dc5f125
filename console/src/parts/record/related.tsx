import { find } from '../../api/find-hits.ts'
import type { RecordData } from '../../kinds/kind.ts'
import { kindNamed } from '../../kinds/kinds.ts'
import { memberText } from '../../kinds/record-members.ts'
import { linkTo } from '../../router.ts'
import { useSession } from '../../session/console-session.ts'
import { labelOf } from '../../values/labels.ts'
import { Status } from '../../values/status.tsx'
import { hitLink, hitTitle } from '../hits.ts'
import { useLoad } from '../use-load.ts'

const SHOWN_MAX = 8
const owners = ['identity_id', 'account_id', 'profile_id'] as const

/** Other records of the same identity, or of the same account or profile where it has none. */
export function Related({ record }: { readonly record: RecordData }) {
  const session = useSession()
  const member = owners.find((name) => memberText(record, name) !== '')
  const owner = member === undefined ? '' : memberText(record, member)
  const [loaded] = useLoad(`related ${owner}`, async (signal) =>
    owner === '' ? undefined : await find(session, owner, signal),
  )
  if (member === undefined || loaded.state !== 'loaded' || loaded.value === undefined) return null
  const others = loaded.value.hits.filter(({ id, kind }) => id !== record.id && kind !== 'fees')
  return (
    <section className="card" aria-labelledby="related">
      <header>
        <h2 id="related">Related</h2>
        <p title={`${member}: ${owner}`}>Same {labelOf(member).toLowerCase()}</p>
        <a href={linkTo(['find'], [['q', owner]])}>All</a>
      </header>
      {others.length === 0 ? (
        <p className="body quiet">No other record has it.</p>
      ) : (
        <ul className="related">
          {others.slice(0, SHOWN_MAX).map((hit) => (
            <li key={`${hit.kind} ${hit.id}`}>
              <a href={hitLink(hit)}>
                <span>
                  {hitTitle(hit)}
                  <span className="sub">{kindNamed(hit.kind)?.title}</span>
                </span>
                {hit.record?.status !== undefined && <Status value={hit.record.status} />}
              </a>
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}
