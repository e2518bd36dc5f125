import { existsSync } from 'node:fs'
import { openDatabase } from '../database.ts'

/**
 * Adds the audit lines of a store that is about to be replaced to those of a backup, with the keys
 * that they were written with. So nothing since the backup is lost. Each process has a chain of its
 * own, so the lines of both stores fit together. Returns how many were added.
 */
export function carryAuditLog(from: string, to: string): number {
  if (!existsSync(from)) return 0
  using db = openDatabase(to)
  db.prepare('attach ? as replaced').run(from)
  try {
    const { changes } = db.prepare(INSERT_LINES).run()
    db.exec(INSERT_ANCHORS)
    db.exec(INSERT_KEYS)
    return Number(changes)
  } finally {
    db.exec('detach replaced')
  }
}

const INSERT_LINES = 'insert or ignore into audit_line select * from replaced.audit_line'

const INSERT_ANCHORS = `
  insert into audit_anchor select * from replaced.audit_anchor where true
  on conflict (chain) do update set sequence = excluded.sequence, digest = excluded.digest,
    key_id = excluded.key_id, seal = excluded.seal
  where excluded.sequence > audit_anchor.sequence`

const KEY_COLUMNS = 'id, purpose, wrapped, master_id, created_at, active_from, revoked_at'

const INSERT_KEYS = `
  insert or ignore into purpose_key (${KEY_COLUMNS})
  select ${KEY_COLUMNS} from replaced.purpose_key where purpose = 'audit' order by sequence`
