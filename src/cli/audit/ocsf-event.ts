import type {
  AuditAction,
  AuditActor,
  AuditEntry,
  AuditOutcome,
} from '../../contract/audit-entry.ts'
import { version } from '../../platform/version.ts'
import type { AuditLine } from '../../store/audit.ts'

/** The release of the Open Cybersecurity Schema Framework whose member names are used. */
const SCHEMA = '1.7.0'

const CATEGORY = 6
/** API Activity. */
const CLASS = 6003

const [CREATE, READ, UPDATE, DELETE, OTHER] = [1, 2, 3, 4, 99]

const activities: Readonly<Record<AuditAction, number>> = {
  open_log: OTHER,
  find_schema: OTHER,
  view_in_full: READ,
  export: READ,
  put: UPDATE,
  delete: DELETE,
  import: CREATE,
  cancel_import: UPDATE,
  consume_fee: UPDATE,
  revoke_token: DELETE,
  command: OTHER,
  refuse: OTHER,
  limit: OTHER,
  refuse_stranger: OTHER,
  count_reads: READ,
  read: READ,
}

/** Success is 1, and failure 2. */
const statuses: Readonly<Record<AuditOutcome, number>> = {
  begun: 99,
  done: 1,
  refused: 2,
  failed: 2,
  cancelled: 2,
  unknown: 0,
}

/** A line as an event of class API Activity. What the class has no member for is in `unmapped`. */
export function ocsfEvent(line: AuditLine, entry: AuditEntry): object {
  const { action, actor, outcome, operation, kind, ids, count, from, until, ...rest } = entry
  const activity = activities[action]
  return {
    class_uid: CLASS,
    class_name: 'API Activity',
    category_uid: CATEGORY,
    category_name: 'Application Activity',
    activity_id: activity,
    ...(activity === OTHER && { activity_name: action }),
    type_uid: CLASS * 100 + activity,
    severity_id: 1,
    time: Number(line.at / 1000n),
    status_id: statuses[outcome],
    status: outcome,
    metadata: {
      version: SCHEMA,
      product: { name: 'Bursar', vendor_name: 'Bursar', version },
      uid: `${line.chain}:${line.sequence}`,
      sequence: Number(line.sequence),
      log_name: 'audit',
    },
    actor: { user: userOf(actor) },
    // The addresses of callers are personal data, which the log does not have.
    src_endpoint: { name: 'not recorded' },
    api: { operation: operation ?? entry.command?.name ?? action, service: { name: 'Bursar' } },
    ...(ids !== undefined && { resources: ids.map((uid) => ({ uid, ...typeOf(kind) })) }),
    ...(count !== undefined && { count }),
    ...(from !== undefined && { start_time: Date.parse(from) }),
    ...(until !== undefined && { end_time: Date.parse(until) }),
    unmapped: {
      action,
      actor_type: actor.type,
      ...typeOf(kind),
      ...rest,
      chain: line.chain,
      digest: line.digest,
      key_id: line.keyId,
    },
  }
}

const typeOf = (kind: string | undefined) => (kind === undefined ? {} : { type: kind })

function userOf(actor: AuditActor): object {
  switch (actor.type) {
    case 'os_user':
      return {
        name: actor.name,
        type_id: 2,
        ...(actor.sudo_user && { full_name: actor.sudo_user }),
      }
    case 'client':
      return { uid: actor.id, type_id: 99, type: 'API client' }
    case 'person':
      return { uid: actor.subject, domain: actor.issuer, type_id: 1 }
    default:
      return { name: actor.type, type_id: 0 }
  }
}
