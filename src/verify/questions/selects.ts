import type { Session } from '../client/client-session.ts'
import { sampleOf, upTo } from '../client/pages.ts'
import type { List } from '../contract.ts'
import { idOf } from '../json.ts'
import { hold } from '../verdicts.ts'
import type { Condition } from '../ways.ts'

/** The answer shows matching records only, and all of those that are known. */
export async function selects(
  session: Session,
  list: List,
  { query, matches }: Omit<Condition, 'name'>,
  by = '',
): Promise<void> {
  const known = await session.whole(list)
  const limit = await session.limitOf(list)
  const answered = await session.list(list, { ...query, limit })
  hold(answered.status < 500, `it must be answered${by}`, answered)
  const found = sampleOf(answered, list)
  const wrong = found.items.find((item) => !matches(item))
  const says = `the record ${wrong && idOf(wrong)} does not match${by}`
  hold(wrong === undefined, says, { ...answered, part: wrong })
  const shown = new Set(found.items.map(idOf))
  const missing = upTo(found, known.items, list).find(
    (item) => matches(item) && !shown.has(idOf(item)),
  )
  hold(missing === undefined, `the record ${missing && idOf(missing)} is missing${by}`, answered)
}
