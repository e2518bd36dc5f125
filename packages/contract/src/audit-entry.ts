import type { Person } from './principal.ts'

/** What an entry of the audit log is about. The list is closed, so that filters can name each. */
export const auditActions = [
  /** A writer begins a chain of lines. */
  'open_log',
  /** The schema that a store had when its first audit key was made. */
  'find_schema',
  'view_in_full',
  'export',
  'put',
  'delete',
  'import',
  'cancel_import',
  'consume_fee',
  'revoke_token',
  /** An operator's command. It has an entry before its work, and one after it. */
  'command',
  /** Requests of a valid token that lacks the right, counted for each client and operation. */
  'refuse',
  /** Requests over a limit, counted for each client. */
  'limit',
  /** Requests without valid credentials, counted by reason. */
  'refuse_stranger',
  /** Reads of records, but for those in full, counted for each client and operation. */
  'count_reads',
  /** One such read, where the setting auditCustomerReads lists them. */
  'read',
] as const

export type AuditAction = (typeof auditActions)[number]

/** Who caused an entry. `others` are the clients that a bounded count does not tell apart. */
export type AuditActor =
  | {
      readonly type: 'os_user'
      readonly name: string
      readonly sudo_user?: string
      /** The role of PostgreSQL that the command connects as. */
      readonly database_role?: string
    }
  | { readonly type: 'client'; readonly id: string }
  | ({ readonly type: 'person' } & Person)
  | { readonly type: 'program' | 'stranger' | 'others' }

export type AuditOutcome =
  | 'begun'
  | 'done'
  | 'refused'
  | 'failed'
  | 'cancelled'
  /** The store did not say whether the work was done. */
  | 'unknown'

/**
 * What one entry says. Each member is an identifier, a count, a time or a word of a closed list,
 * but for a person's reason, which is checked. So no entry can hold an account number, a secret or
 * a query.
 */
export type AuditEntry = {
  readonly action: AuditAction
  readonly actor: AuditActor
  readonly outcome: AuditOutcome
  /** The operation of the API, by its id. */
  readonly operation?: string
  /** The kind of the records. */
  readonly kind?: string
  /** Whose records were read: a customer. */
  readonly customer?: string
  readonly view?: 'full' | 'customer'
  /** What a person has stated, or why a stranger was refused. */
  readonly reason?: string
  /** The records, imports, fees, clients or keys that it is about. */
  readonly ids?: readonly string[]
  /** The customers whose records were written. */
  readonly customers?: readonly string[]
  /** Requests of the same meaning that the entry stands for, if not one. */
  readonly count?: number
  /** Records that were shown. */
  readonly rows?: number
  /** The time that a count covers. */
  readonly from?: string
  readonly until?: string
  readonly counts?: AuditCounts
  readonly command?: AuditCommand
  readonly steps?: readonly { readonly name: string; readonly at: string }[]
  readonly writer?: AuditWriter
}

type AuditCounts = Readonly<
  Record<'added' | 'changed' | 'unchanged' | 'rejected' | 'withdrawn', number>
>

/** A command with the options that were given. A value that may be secret is withheld. */
export type AuditCommand = {
  readonly name: string
  readonly arguments: readonly string[]
  readonly options: Readonly<Record<string, string>>
}

/** The process that writes a chain. */
type AuditWriter = {
  readonly version: string
  readonly host: string
  readonly process_id: number
}

/** What a request does that needs an entry before it is answered. It is done unless it says not. */
export type Deed = Omit<AuditEntry, 'actor' | 'outcome' | 'operation' | 'count'> & {
  readonly outcome?: AuditOutcome
}
