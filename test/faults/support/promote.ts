import type { PostgresServer } from '../../support/postgres-server.ts'
import { askServer } from './ask-server.ts'

/** Promotes the standby that has received most, as an operator or Patroni would. */
export async function promote(standbys: readonly PostgresServer[]): Promise<PostgresServer> {
  const standby = await mostAdvanced(standbys)
  await askServer(standby, 'select pg_promote()')
  return standby
}

/** The standby that has received most, which has every change that any standby confirmed. */
async function mostAdvanced(standbys: readonly PostgresServer[]): Promise<PostgresServer> {
  const received = await Promise.all(
    standbys.map(async (standby) => {
      const [[position] = []] = await askServer(
        standby,
        `select (greatest(pg_last_wal_receive_lsn(), pg_last_wal_replay_lsn()) - '0/0')::text`,
      )
      return { standby, position: BigInt(position ?? '0') }
    }),
  )
  const [first] = received.toSorted((a, b) => (a.position > b.position ? -1 : 1))
  if (first === undefined) throw new Error('there is no standby')
  return first.standby
}
