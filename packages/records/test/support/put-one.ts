import assert from 'node:assert/strict'
import type { RecordInput, RecordKind } from '@bursar/contract'
import { renderRecord } from '@bursar/intake'
import { resourceOf, rules } from '../../../../test/support/record-store.ts'
import { recordCheck } from '../../../intake/src/check.ts'
import type { PutOutcome, PutRequest } from '../../src/records/put.ts'
import type { Store } from '../../src/records.ts'

/** Puts one record into a store, as a client that may store every record. */
export function putOne(
  store: Store,
  kind: RecordKind,
  input: RecordInput,
  options: Partial<PutRequest> = {},
): Promise<PutOutcome> {
  const resource = resourceOf(kind)
  const checked = recordCheck(resource, rules)(input)
  assert.ok('record' in checked, JSON.stringify(checked))
  return store.operator.put(resource, {
    record: renderRecord(resource, checked.record, 1),
    precondition: {},
    allowOlder: false,
    from: { command: 'PUT', clientId: 'core' },
    ...options,
  })
}
