import { existsSync } from 'node:fs'
import type { StoreFiles } from '@bursar/records'
import { openDatabase } from '../database.ts'

/**
 * Adds the audit lines of a store that is about to be replaced to those of a backup, with the keys
 * that they were written with. Adds its erasures, and the list of the keys that they destroyed. So
 * nothing since the backup is lost. Each process has a chain of its own, so the lines of both fit
 * together. Returns how many were added.
 */
export function carryLists(from: string, to: string): ReturnType<StoreFiles['carryLists']> {
  if (!existsSync(from)) return { auditLines: 0, erasures: 0 }
  using db = openDatabase(to)
  db.prepare('attach ? as replaced').run(from)
  try {
    const { changes: auditLines } = db.prepare(INSERT_LINES).run()
    db.exec(INSERT_ANCHORS)
    db.exec(INSERT_KEYS)
    db.exec(INSERT_DESTROYED)
    const { changes: erasures } = db.prepare(INSERT_ERASURES).run()
    return { auditLines: Number(auditLines), erasures: Number(erasures) }
  } finally {
    db.exec('detach replaced')
  }
}

const INSERT_LINES = 'insert or ignore into audit_line select * from replaced.audit_line'

// An erasure that has ended since the backup replaces its row there. None of them has erased what
// is restored, so each has ended before the restore.
const INSERT_ERASURES = `
  insert into erasure (customer_id, begun_at, ended_at, removed)
  select customer_id, begun_at, min(ended_at, (select restored_at from recovery)), removed
  from replaced.erasure where true
  on conflict (customer_id, begun_at) do update set ended_at = excluded.ended_at,
    removed = excluded.removed
  where erasure.ended_at is null and excluded.ended_at is not null`

const INSERT_ANCHORS = `
  insert into audit_anchor select * from replaced.audit_anchor where true
  on conflict (chain) do update set sequence = excluded.sequence, digest = excluded.digest,
    key_id = excluded.key_id, seal = excluded.seal
  where excluded.sequence > audit_anchor.sequence`

const KEY_COLUMNS = 'id, purpose, wrapped, master_id, created_at, active_from, revoked_at'

const INSERT_KEYS = `
  insert or ignore into purpose_key (${KEY_COLUMNS})
  select ${KEY_COLUMNS} from replaced.purpose_key where purpose = 'audit' order by sequence`

const INSERT_DESTROYED = `
  insert or ignore into audit_destroyed_key select fingerprint, 0 from replaced.audit_destroyed_key`
