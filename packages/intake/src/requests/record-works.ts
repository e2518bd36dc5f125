import type { IncomingHttpHeaders } from 'node:http'
import type { Clock } from '@bursar/base'
import {
  contractLimits,
  type Deed,
  fullView,
  noneFound,
  type OperatorInput,
  type OperatorWork,
  type Problem,
  pastInstant,
  problem,
  type RecordRules,
  type Resource,
  type WorkAnswer,
} from '@bursar/contract'
import {
  type ClientOrigin,
  doing,
  type FoundRecord,
  idOf,
  nameOf,
  type Precondition,
  type PutOutcome,
  requireFound,
  requireHistoryScope,
  type StorableRecord,
  type Store,
} from '@bursar/records'
import { recordCheck } from '../check.ts'
import { parseEntry } from '../entry.ts'
import { readRecord } from '../read-record.ts'
import { type FoundInAll, type HttpFault, refusedRecords } from '../refused-records.ts'
import type { ForeignValues } from './foreign-values.ts'

export type RecordDeps = {
  readonly store: Pick<Store, 'operator'>
  readonly rules: RecordRules
  readonly clock: Clock
  readonly foreign: ForeignValues
}

/** The works of one kind of record. */
type RecordWorks = {
  readonly get: OperatorWork
  readonly put: OperatorWork
  readonly delete: OperatorWork
}

export function recordWorks(resource: Resource, deps: RecordDeps): RecordWorks {
  const { store, rules, clock, foreign } = deps
  const check = recordCheck(resource, rules)
  const read = (input: OperatorInput): StorableRecord => {
    const value = withId(input)
    const customerId = input.caller.boundTo ?? undefined
    const found = readRecord(resource, check, { line: 1, value }, customerId)
    if ('faults' in found) throw refused(found.faults)
    return found.record
  }
  const own = async (input: OperatorInput): Promise<FoundRecord> =>
    requireFound(resource, input, await store.operator.find(resource, nameOf(input)))
  const storing = (input: OperatorInput, command: ClientOrigin['command']) => ({
    ...allowedBy(input),
    from: { command, clientId: input.caller.clientId },
  })
  return {
    get: async (input) => {
      const accessed = { kind: resource.kind, ids: [idOf(input)] }
      const deed = resource.mask === undefined ? undefined : fullView(input, accessed)
      const asOf = pastInstant(input.parameters.get('as_of'), clock)
      if (asOf === undefined) return answerOf(resource, input, await own(input), deed)
      requireHistoryScope(input)
      // An id that no customer has says nothing about a time, so it is 404 at every one.
      const past = await store.operator.findAsOf(resource, nameOf(input), asOf)
      const { found } = requireFound(resource, input, past)
      return answerOf(resource, input, requireFound(resource, input, found), deed)
    },
    put: async (input) => {
      foreign.requireFew(input.caller)
      const record = read(input)
      const deed = deedOf(input, {
        action: 'put',
        kind: resource.kind,
        customer: record.customerId,
      })
      const precondition = preconditionOf(input.headers)
      const request = { record, precondition, ...storing(input, 'PUT') }
      const stored = await doing(deed, () => store.operator.put(resource, request))
      const { outcome, version } = storedOf(resource, input, stored, foreign)
      input.trace.rows = 1
      const isNew = outcome === 'added'
      return { isNew, headers: tagged(version), body: { outcome }, deed }
    },
    delete: async (input) => {
      const id = idOf(input)
      // The record of a bound client is found by its customer, in the transaction.
      const customerId = input.caller.boundTo ?? (await own(input)).customerId
      const deed = deedOf(input, { action: 'delete', kind: resource.kind, customer: customerId })
      const precondition = preconditionOf(input.headers)
      const record = { customerId, id, withdraws: true } as const
      const request = { record, precondition, ...storing(input, 'DELETE') }
      const outcome = await doing(deed, () => store.operator.put(resource, request))
      const { version } = storedOf(resource, input, outcome, foreign)
      // A record that is withdrawn has no version to name.
      return resource.deletable ? { headers: tagged(version), deed } : { deed }
    },
  }
}

type Write = Pick<Deed, 'action' | 'kind'> & { readonly customer: string }

const deedOf = (input: OperatorInput, { customer, ...write }: Write): Deed => ({
  ...write,
  ids: [idOf(input)],
  customers: [customer],
})

/** What a write may do besides what every write may. */
export function allowedBy({ caller, parameters }: OperatorInput) {
  const takeOver = parameters.get('take_over') === true
  if (takeOver && caller.boundTo !== null) {
    throw problem('forbidden', 'take_over requires a client that is bound to no customer')
  }
  return { allowOlder: parameters.get('allow_older') === true, takeOver }
}

const tagged = (version: string) => ({ etag: `"${version}"` })

function answerOf(
  resource: Resource,
  input: OperatorInput,
  { isWithdrawn, version, line, customerId }: FoundRecord,
  deed: Deed | undefined,
): WorkAnswer {
  if (isWithdrawn) throw noneFound(resource.noun, idOf(input))
  const shown = deed && { ...deed, customer: customerId }
  return { headers: tagged(version), body: line, deed: shown }
}

/** The record of the body. It may leave out its id, which is in the path. */
function withId(input: OperatorInput): unknown {
  const entry = parseEntry(1, input.request.body)
  if (entry === undefined)
    throw problem('malformed', 'the body must be a record, and nothing was sent')
  if ('reason' in entry) {
    const { code, reason } = entry
    throw refused([{ member: 'record', code, reason }])
  }
  const { value } = entry
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const id = idOf(input)
  const given = (value as { readonly id?: unknown }).id
  if (given === undefined) return { id, ...value }
  if (typeof given === 'string' && given.toLowerCase() === id) return value
  throw refused([{ member: 'id', code: 'other_id', reason: 'must be the id in the path' }])
}

function storedOf(
  resource: Resource,
  input: OperatorInput,
  outcome: PutOutcome,
  foreign: ForeignValues,
): Extract<PutOutcome, { outcome: 'added' | 'changed' | 'unchanged' }> {
  if (outcome.outcome === 'missing') throw noneFound(resource.noun, idOf(input))
  if (outcome.outcome === 'unmatched') throw unmet(preconditionOf(input.headers), outcome.version)
  if (outcome.outcome === 'refused') throw refused(foreign.shown(input, outcome.faults))
  return outcome
}

/**
 * `If-Match` and `If-None-Match` of a write (RFC 9110 section 13.1). A header that cannot be read
 * is a 400: a write must not ignore its condition.
 */
const preconditionOf = (headers: IncomingHttpHeaders): Precondition => ({
  // The comparison is strong, so a weak tag stays as it is and equals no version.
  match: readTags('If-Match', headers['if-match']),
  noneMatch: readTags('If-None-Match', headers['if-none-match'], (tag) => tag.replace(/^W\//, '')),
})

function readTags(
  name: string,
  header: string | undefined,
  compared = (tag: string) => tag,
): readonly string[] | 'any' | undefined {
  if (header === undefined) return undefined
  if (header.trim() === '*') return 'any'
  const isReadable = header.length <= contractLimits.entityTagsLengthMax && tagList.test(header)
  const tags = isReadable ? header.match(eachTag) : null
  if (tags === null) {
    const most = `at most ${contractLimits.entityTagsLengthMax} characters`
    throw problem('malformed', `${name} must be * or ${most} of entity tags such as "1a2b3c"`)
  }
  return tags.map((tag) => compared(tag).replace(/^"(.*)"$/, '$1'))
}

/** A tag may contain a comma, and an element of the list may be empty (section 5.6.1.2). */
const entityTag = String.raw`(?:W/)?"[\x21\x23-\x7e\x80-\xff]*"`
const element = String.raw`[ \t]*(?:${entityTag}[ \t]*)?`
const tagList = new RegExp(`^${element}(?:,${element})*$`)
const eachTag = new RegExp(entityTag, 'g')

function unmet({ match }: Precondition, version: string | undefined): Problem {
  if (version === undefined) {
    return problem('preconditionFailed', 'no version is stored, so the condition is not met')
  }
  const isMatched = match === undefined || match === 'any' || match.includes(version)
  const isWeak = !isMatched && match.some((tag) => tag.startsWith('W/'))
  const why = isMatched ? ruledOut : isWeak ? weakTag : otherTag
  return problem('preconditionFailed', why, { headers: { etag: `"${version}"` } })
}

const ruledOut = 'the stored version is one that If-None-Match rules out; nothing was changed'
const otherTag = 'If-Match does not name the stored version; read it, and send its entity tag'
const weakTag =
  'a weak entity tag (W/"...") never matches If-Match; send the tag that the service gave, without W/, if no proxy altered the answer, or switch off the proxy\'s compression of these answers'

/** The refusal of a record or of a stream that a client of the operator has sent. */
export const refused = (faults: readonly HttpFault[], found?: FoundInAll) =>
  refusedRecords(faults, 'must be the customer that the client is bound to', found)
