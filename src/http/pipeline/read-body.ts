import type { Body, BodyInput } from '../../contract/operation.ts'
import { type ParameterFault, Problem } from '../../contract/problem.ts'

type BodyFault = ParameterFault & { readonly sentence: string }

/**
 * Reads a request's JSON object as declared, whatever its Content-Type. Throws one 400 that names
 * every fault. It echoes no value, since an address field may hold a private key.
 */
export function readBody(body: Body, bytes: Uint8Array): BodyInput {
  const given = parseObject(bytes)
  const values = new Map<string, string>()
  const faults: BodyFault[] = []
  for (const [parameter, field] of Object.entries(body.members)) {
    const raw = Object.hasOwn(given, parameter) ? given[parameter] : undefined
    const note = (reason: string) =>
      faults.push({ parameter, reason, sentence: field.sentence ?? `${parameter} ${reason}` })
    if (raw === undefined || raw === null) {
      if (body.required.includes(parameter)) note('must be set')
      continue
    }
    if (typeof raw !== 'string') {
      note('must be a JSON string')
      continue
    }
    const reading = raw.includes('\u0000') ? { reason: 'must not contain a NUL' } : field.read(raw)
    if ('reason' in reading) note(reading.reason)
    else values.set(parameter, reading.value)
  }
  faults.push(...choiceFaults(body, given))
  if (faults.length === 0) return values
  throw new Problem(400, faults.map(({ sentence }) => sentence).join('; '), {
    meta: { errors: faults.map(({ parameter, reason }) => ({ parameter, reason })) },
  })
}

function choiceFaults({ oneOf }: Body, given: Readonly<Record<string, unknown>>): BodyFault[] {
  if (oneOf === undefined) return []
  const [first, second] = oneOf.members
  const isSet = (name: string) => Object.hasOwn(given, name) && given[name] !== null
  if (isSet(first) !== isSet(second)) return []
  const sentence = isSet(first) ? oneOf.both : oneOf.neither
  const reason = isSet(first) ? `must not be set beside ${second}` : `or ${second} must be set`
  return [{ parameter: first, reason, sentence }]
}

function parseObject(bytes: Uint8Array): Readonly<Record<string, unknown>> {
  let value: unknown
  try {
    value = JSON.parse(utf8.decode(bytes))
  } catch {
    throw new Problem(400, 'the body must be JSON in UTF-8')
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Problem(400, 'the body must be a JSON object')
  }
  return value as Readonly<Record<string, unknown>>
}

const utf8 = new TextDecoder('utf-8', { fatal: true })
