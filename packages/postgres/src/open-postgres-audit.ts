import { ConfigError, type PurposeKeyStore, type ServerAddress, systemTime } from '@bursar/base'
import {
  type AuditDeps,
  type AuditLine,
  type AuditLog,
  type AuditReader,
  type CredentialStore,
  countLines,
  destroyedKeyMethods,
  insertLines,
  isTrue,
  keyMethods,
  listsOf,
  type NamedRow,
  openAudit,
  openAuditReader,
  recordsLimits,
  type Session,
  type Statement,
  whole,
} from '@bursar/records'
import type { Servers } from './cluster/servers.ts'
import { committed, transact } from './cluster/transaction.ts'
import { withPrimary } from './cluster/with-primary.ts'
import { dialect } from './dialect.ts'
import type { Connection } from './driver/connection.ts'
import { guarded } from './driver/failure.ts'
import { openTurns } from './driver/turns.ts'
import { seeEveryRow } from './schema/grants.ts'
import { rowsOf, sessionOf } from './session.ts'

/** Writes the audit log as a role that may insert lines, and nothing else. */
export const openPostgresAudit = (servers: Servers, withinMs: number, deps: AuditDeps): AuditLog =>
  openAudit(
    {
      append: async (lines, deadline) => {
        const { rows } = rowsOf(insertingOn(servers, deadline))
        return storedOf(await rows(appendLines(lines)))
      },
      heads: (since, chainsMax) =>
        rowsOf(insertingOn(servers, systemTime.elapsedMs() + withinMs)).rows(
          selectHeads(since, chainsMax),
        ),
      withinMs,
      // Leaves the batch at least half of the time.
      waitMs: withinMs / 2,
    },
    deps,
  )

/** One round trip, which also says how many lines are stored to a role that may read none. */
const appendLines = (lines: readonly AuditLine[]): Statement => ({
  text: 'select bursar_audit.append($1, $2, $3, $4, $5, $6) as stored',
  values: listsOf(dialect, lines),
  prepare: true,
})

/** For a role that may read no line, either. */
const selectHeads = (since: bigint, chainsMax: number): Statement => ({
  text: 'select chain, sequence, digest from bursar_audit.heads($1, $2)',
  values: [since, chainsMax],
})

const storedOf = ([row = {}]: readonly NamedRow[]): number => Number(whole(row, 'stored'))

const insertingOn = (servers: Servers, deadline: number): Pick<Connection, 'rows'> => ({
  rows: (statement) =>
    servers.onPrimary(
      (connection) => committed(connection.rows(statement)),
      deadline - systemTime.elapsedMs(),
    ),
})

/** The audit log and the wrapped keys for the owner of the database, or its auditor. */
export type OwnedAudit = {
  /** Whether there is a log, and a key to write it with. */
  hasLog(): Promise<boolean>
  readonly reader: AuditReader
  readonly keys: PurposeKeyStore
  readonly findDestroyedKeys: CredentialStore['findDestroyedKeys']
  openLog(deps: AuditDeps): AuditLog
}

/** Runs work over one session as the owner. A role that may read can do all but change the log. */
export const withOwnedAudit = <T>(
  addresses: readonly ServerAddress[],
  work: (audit: OwnedAudit) => Promise<T>,
): Promise<T> => withPrimary(addresses, (owner) => work(ownedAudit(owner)))

function ownedAudit(owner: Connection): OwnedAudit {
  const inTurn = openTurns()
  const run = <T>(statements: () => Promise<T>) => inTurn(() => explaining(owner, statements))
  const transacting: Parameters<typeof openAuditReader>[0]['transact'] = (work) =>
    run(() => transact(owner, () => work(sessionOf(owner)), seeEveryRow))
  const refuse = () => Promise.reject(new Error('the owner changes no key'))
  const sessions = {
    dialect,
    read: <T>(work: (session: Session, revision: bigint) => Promise<T>) =>
      transacting((session) => work(session, 0n)),
    change: refuse,
  }
  const keys = keyMethods({ ...sessions, ignoresEnds: true })
  return {
    ...destroyedKeyMethods(sessions),
    hasLog: async () => {
      const text = `select to_regclass('bursar_audit.line') is not null
        and to_regclass('bursar.purpose_key') is not null as is_there`
      const [row] = await run(() => owner.rows({ text }))
      if (!isTrue(row?.is_there)) return false
      return (await keys.readPurposeKeys()).some(({ purpose }) => purpose === 'audit')
    },
    keys,
    reader: openAuditReader({
      dialect,
      rows: (statement) => run(() => rowsOf(owner).rows(statement)),
      transact: transacting,
    }),
    openLog: (deps) =>
      openAudit(
        {
          // The owner may read lines, and `migrate` adds some before there is the function.
          append: (lines) =>
            run(() =>
              transact(owner, async () => {
                const { rows } = rowsOf(owner)
                await rows(insertLines(dialect, lines))
                await owner.execute('set constraints all immediate')
                return storedOf(await rows(countLines(dialect, lines)))
              }),
            ),
          heads: (since, chainsMax) => run(() => rowsOf(owner).rows(selectHeads(since, chainsMax))),
          withinMs: recordsLimits.auditWriteMs,
          waitMs: recordsLimits.auditWriteMs,
        },
        deps,
      ),
  }
}

const explaining = <T>(connection: Connection, work: () => Promise<T>): Promise<T> =>
  guarded(() =>
    work().catch(async (error: unknown) => {
      const { code } = (error ?? {}) as { readonly code?: unknown }
      if (code === '42501') {
        const [row] = await connection.rows({
          text: `select pg_get_userbyid(nspowner) as owner from pg_namespace
            where nspname = 'bursar_audit'`,
        })
        throw new ConfigError(
          `This role has no right to the audit log. Use the URL of ${row?.owner ?? 'its owner'}, the database’s owner, or, to read the log, of a role such as bursar_auditor (docs/running.md).`,
        )
      }
      if (code === '3F000' || code === '42P01') {
        throw new ConfigError('The database has no audit log. Run migrate with its owner’s URL.')
      }
      throw error
    }),
  )
