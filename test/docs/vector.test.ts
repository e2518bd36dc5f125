import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { describe, test } from 'node:test'
import { check, execute, formatDiagnostic } from '@bpinternal/verel'
import { parse } from 'yaml'
import type {
  AuditAction,
  AuditActor,
  AuditEntry,
  AuditOutcome,
} from '../../packages/contract/src/audit-entry.ts'

/** examples/vector: the mapping is run by Vector's own language, the configuration is not. */

const program = readFileSync('examples/vector/ocsf.vrl', 'utf8')

const line = {
  id: 'a:4',
  time: '2026-11-23T12:00:00.000001Z',
  action: 'view_in_full',
  actor: { type: 'client', id: 'core' },
  outcome: 'done',
  operation: 'getFiatAccount',
  chain: 'a',
  sequence: 4,
  key_id: 'key_1',
}

const eventOf = (given: object) =>
  execute(program, { message: JSON.stringify({ ...line, ...given }) }).event

/** The parts of a value that have no parts. */
const leavesOf = (value: unknown): unknown[] =>
  typeof value === 'object' && value !== null ? Object.values(value).flatMap(leavesOf) : [value]

const activities: Readonly<Record<AuditAction, number>> = {
  open_log: 99,
  find_schema: 99,
  view_in_full: 2,
  export: 2,
  put: 3,
  delete: 4,
  import: 1,
  cancel_import: 3,
  consume_fee: 3,
  revoke_token: 4,
  command: 99,
  refuse: 99,
  limit: 99,
  refuse_stranger: 99,
  count_reads: 2,
  read: 2,
}

const statuses: Readonly<Record<AuditOutcome, number>> = {
  begun: 99,
  done: 1,
  refused: 2,
  failed: 2,
  cancelled: 2,
  unknown: 0,
}

const users: readonly (readonly [AuditActor, object])[] = [
  [
    { type: 'client', id: 'core' },
    { uid: 'core', type_id: 99, type: 'API client' },
  ],
  [
    { type: 'person', issuer: 'https://id.example', subject: 'ada' },
    { uid: 'ada', domain: 'https://id.example', type_id: 1 },
  ],
  [
    { type: 'os_user', name: 'root', sudo_user: 'ada', database_role: 'owner' },
    { name: 'root', full_name: 'ada', type_id: 2 },
  ],
  [{ type: 'program' }, { name: 'program', type_id: 0 }],
]

describe('examples/vector/ocsf.vrl', () => {
  test('has no fault for its language', () => {
    const { errors, warnings } = check(program)
    assert.deepEqual([...errors, ...warnings].map(formatDiagnostic), [])
  })

  test('makes an event of class API Activity of a line', () => {
    assert.deepEqual(eventOf({ ids: ['1', '2'], kind: 'fiat-accounts', customer: 'acme' }), {
      class_uid: 6003,
      class_name: 'API Activity',
      category_uid: 6,
      category_name: 'Application Activity',
      activity_id: 2,
      type_uid: 600_302,
      severity_id: 1,
      time: Date.parse('2026-11-23T12:00:00Z'),
      status_id: 1,
      status: 'done',
      metadata: {
        version: '1.7.0',
        product: { name: 'Bursar', vendor_name: 'Bursar' },
        uid: 'a:4',
        sequence: 4,
        log_name: 'audit',
      },
      actor: { user: { uid: 'core', type_id: 99, type: 'API client' } },
      src_endpoint: { name: 'not recorded' },
      api: { operation: 'getFiatAccount', service: { name: 'Bursar' } },
      resources: [
        { uid: '1', type: 'fiat-accounts' },
        { uid: '2', type: 'fiat-accounts' },
      ],
      unmapped: {
        action: 'view_in_full',
        actor: { type: 'client', id: 'core' },
        kind: 'fiat-accounts',
        customer: 'acme',
        chain: 'a',
        key_id: 'key_1',
      },
    })
  })

  test('knows every action, outcome and actor', () => {
    for (const [action, activity] of Object.entries(activities)) {
      const { activity_id, activity_name, type_uid } = eventOf({ action })
      assert.deepEqual([activity_id, type_uid], [activity, 600_300 + activity], action)
      assert.equal(activity_name, activity === 99 ? action : undefined)
    }
    for (const [outcome, id] of Object.entries(statuses)) {
      const { status, status_id } = eventOf({ outcome })
      assert.deepEqual([status, status_id], [outcome, id])
    }
    for (const [actor, user] of users) assert.deepEqual(eventOf({ actor }).actor, { user })
  })

  test('loses nothing of an entry', () => {
    const entry: Required<Omit<AuditEntry, 'actor' | 'from' | 'until'>> = {
      action: 'command',
      outcome: 'failed',
      operation: 'anOperation',
      kind: 'statements',
      customer: 'a customer',
      view: 'full',
      reason: 'a reason',
      ids: ['an id', 'another id'],
      customers: ['one', 'other'],
      count: 17,
      rows: 18,
      counts: { added: 21, changed: 22, unchanged: 23, rejected: 24, withdrawn: 25 },
      command: { name: 'import', arguments: ['statements'], options: { '--dry-run': 'true' } },
      steps: [{ name: 'held', at: 'a time' }],
      writer: { version: '1.2.3', host: 'a host', process_id: 31 },
    }
    const actor = users.flatMap(([one]) => (one.type === 'os_user' ? [one] : []))[0]
    const [from, until] = ['2026-11-23T12:00:00Z', '2026-11-23T12:01:00Z']
    const event = eventOf({ ...entry, actor, from, until })
    const shown = new Set(leavesOf(event))
    assert.deepEqual(
      leavesOf({ ...entry, actor }).filter((leaf) => !shown.has(leaf)),
      [],
    )
    assert.deepEqual([event.start_time, event.end_time], [from, until].map(Date.parse))
  })

  test('shows a line that is no entry as one that nobody should miss', () => {
    const message = JSON.stringify({
      id: 'a:3',
      not_an_entry: true,
      at: 5000,
      chain: 'a',
      sequence: 3,
    })
    const event = execute(program, { message }).event
    const { activity_name, severity_id, time, metadata, unmapped } = event
    assert.deepEqual([activity_name, severity_id, time], ['not_an_entry', 4, 5])
    assert.deepEqual([metadata.uid, unmapped.not_an_entry, unmapped.at], ['a:3', true, 5000])
  })
})

test('examples/vector/vector.yaml runs a command of the program and the mapping', () => {
  const { sources, transforms } = parse(readFileSync('examples/vector/vector.yaml', 'utf8'))
  assert.deepEqual(sources.audit_log.command, ['bursar', 'audit', '--json', '--follow'])
  assert.equal(basename(transforms.ocsf.file), 'ocsf.vrl')
})
