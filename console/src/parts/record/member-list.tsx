import { flatMembers } from '../../kinds/record-members.ts'
import { Time } from '../../values/time.tsx'

/** Every member of a record, as the API spells it, under the object that it is in. */
export function Members({ record }: { readonly record: object }) {
  const groups = Map.groupBy(flatMembers(record), ([path]) => path.replace(/\.?[^.]+$/, ''))
  return (
    <div className="members">
      {[...groups].map(([parent, members]) => (
        <section key={parent}>
          {parent !== '' && <h2>{parent.replaceAll('.', ' › ')}</h2>}
          <dl>
            {members.map(([path, text]) => (
              <div key={path}>
                <dt>{path.slice(parent === '' ? 0 : parent.length + 1)}</dt>
                <dd>{isTime(path, text) ? <Time at={text} /> : text}</dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
    </div>
  )
}

/** Metadata may have such names too, with any text. */
const isTime = (path: string, text: string): boolean =>
  /^([a-z]+_at|period_start|period_end)$/.test(path) && /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(text)
