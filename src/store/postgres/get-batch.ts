import type { Tenant } from '../../contract/principal.ts'
import type { Resource } from '../../contract/resource.ts'
import { limits } from '../../platform/limits.ts'
import { fullTable } from '../merge-query.ts'
import { type Query, textArray } from './connection.ts'
import { unavailable } from './failure.ts'
import type { Servers } from './servers.ts'
import { wallOf } from './wall.ts'

type Asked = { readonly tenant: Tenant; readonly id: string; readonly reveal: boolean }
type Waiting = Asked & {
  readonly askedAt: number
  readonly answer: PromiseWithResolvers<Uint8Array | undefined>
}

export type GetOne = (
  tenant: Tenant,
  id: string,
  reveal: boolean,
) => Promise<Uint8Array | undefined>

/**
 * Gets of one kind of record, several in one statement. One that comes while few are under way is sent at once and waits
 * for nobody; those that come while the database is at work gather, and go together when it is done
 * (bench/reads.ts: a statement costs as much as ten look-ups).
 */
export function openGetBatch(servers: Servers, resource: Resource): GetOne {
  const gathered: Waiting[] = []
  let underWay = 0
  const send = () => {
    const batch = takeBatch(gathered)
    if (batch.length === 0) return
    underWay += 1
    void getAll(servers, resource, batch).finally(() => {
      underWay -= 1
      if (gathered.length > 0) send()
    })
  }
  return (tenant, id, reveal) => {
    if (gathered.length >= limits.getsWaitingMax) {
      return Promise.reject(unavailable('too many gets wait for the database'))
    }
    const answer = Promise.withResolvers<Uint8Array | undefined>()
    gathered.push({ tenant, id, reveal, askedAt: performance.now(), answer })
    if (underWay < limits.getStatementsMax) send()
    return answer.promise
  }
}

/**
 * The next to go. Those that have waited too long are refused: what is left of their time is that of the whole batch, and
 * would not do for those that have just come.
 */
function takeBatch(gathered: Waiting[]): readonly Waiting[] {
  const now = performance.now()
  for (
    let first = gathered[0];
    first !== undefined && now - first.askedAt > limits.databaseWaitMs;
    first = gathered[0]
  ) {
    gathered.shift()
    first.answer.reject(unavailable('a get waited too long for the database'))
  }
  return gathered.splice(0, limits.getsPerStatementMax)
}

async function getAll(
  servers: Servers,
  resource: Resource,
  batch: readonly Waiting[],
): Promise<void> {
  try {
    // The first has waited longest; whoever asks waits no longer than for a page, gathering included.
    const askedAt = batch[0]?.askedAt ?? performance.now()
    const rows = await servers.read((connection) => connection.query(getQuery(resource, batch)), {
      askedAt,
    })
    const found = new Map(rows.map(([at, body]) => [Number(at), body]))
    for (const [at, { answer }] of batch.entries()) answer.resolve(found.get(at + 1) ?? undefined)
  } catch (error) {
    for (const { answer } of batch) answer.reject(error)
  }
}

/** Each row is looked up while the wall's setting names the customer who asked for it, and nobody else. */
export function getQuery(resource: Resource, batch: readonly Asked[]): Query {
  return {
    text: `
      select asked.at, record.body
      from unnest($1::text[], $2::uuid[], $3::boolean[]) with ordinality as asked (customer_id, id, reveal, at)
      cross join lateral ${wallOf('asked.customer_id')}
      cross join lateral (
        select body from bursar.${fullTable(resource)}
        where customer_id = wall.customer_id and id = asked.id and (deleted = false or asked.reveal)
        limit 1
      ) as record`,
    values: [
      textArray(batch.map(({ tenant }) => tenant)),
      textArray(batch.map(({ id }) => id)),
      textArray(batch.map(({ reveal }) => (reveal ? 't' : 'f'))),
    ],
    prepare: true,
  }
}
