import {
  attempt,
  limitsOf,
  membersAtMost,
  parseJson,
  repeatedMembers,
  scanJson,
} from '@bursar/base'
import {
  type Body,
  type BodyInput,
  contractLimits,
  echo,
  invalidParameters,
  type ParameterFault,
  type Problem,
  type Refusal,
} from '@bursar/contract'

const limits = limitsOf({
  /** A fee request has five; unknown ones are ignored. */
  bodyMembersMax: 200,
})

/**
 * Reads a request's JSON object as declared, whatever its Content-Type. Throws one 400 that names
 * every fault. It echoes no value, since an address field may hold a private key.
 */
export function readBody(body: Body, bytes: Uint8Array): BodyInput {
  if (body.optional === true && bytes.length === 0) return new Map()
  const given = parseObject(bytes)
  const values = new Map<string, string>()
  const faults: ParameterFault[] = []
  for (const [parameter, field] of Object.entries(body.members)) {
    const raw = Object.hasOwn(given, parameter) ? given[parameter] : undefined
    if (raw === undefined || raw === null) {
      if (body.required.includes(parameter)) {
        faults.push({ parameter, code: 'missing', reason: 'must be set' })
      }
      continue
    }
    const reading = typeRefusal(raw, field.schema) ?? field.read(String(raw))
    if ('value' in reading) values.set(parameter, String(raw))
    else faults.push({ parameter, ...reading, sentence: field.sentence })
  }
  faults.push(...choiceFaults(body, given), ...unknownFaults(body, given))
  if (faults.length > 0) throw invalidParameters(faults)
  return values
}

/** Fields read texts, so the type of JSON is checked before. */
function typeRefusal(raw: unknown, schema: Body['members'][string]['schema']): Refusal | undefined {
  const code = 'wrong_type'
  switch ('type' in schema && schema.type) {
    case 'boolean':
      return typeof raw === 'boolean' ? undefined : { code, reason: 'must be a boolean' }
    case 'integer':
      return Number.isSafeInteger(raw) ? undefined : { code, reason: 'must be a whole number' }
    default:
      return refusalOfText(raw)
  }
}

function refusalOfText(raw: unknown): Refusal | undefined {
  if (typeof raw !== 'string') return { code: 'wrong_type', reason: 'must be a JSON string' }
  if (raw.includes('\u0000')) return { code: 'nul', reason: 'must not contain a NUL' }
  // A lone surrogate cannot be stored as UTF-8.
  return raw.isWellFormed()
    ? undefined
    : { code: 'not_utf8', reason: 'must be well-formed Unicode' }
}

function unknownFaults(
  { closed, members }: Body,
  given: Readonly<Record<string, unknown>>,
): readonly ParameterFault[] {
  if (closed !== true) return []
  const unknown = Object.keys(given).filter((name) => !Object.hasOwn(members, name))
  const reason = `is unknown here; the members are ${Object.keys(members).join(', ')}`
  return unknown
    .slice(0, contractLimits.ignoredNamesMax)
    .map((name) => ({ parameter: echo(name), code: 'unknown_name', reason }))
}

function choiceFaults(
  { oneOf }: Body,
  given: Readonly<Record<string, unknown>>,
): readonly ParameterFault[] {
  if (oneOf === undefined) return []
  const [parameter, other] = oneOf.members
  const isSet = (name: string) => Object.hasOwn(given, name) && given[name] !== null
  if (isSet(parameter) !== isSet(other)) return []
  return isSet(parameter)
    ? [
        {
          parameter,
          code: 'conflicting',
          reason: `must not be set beside ${other}`,
          sentence: oneOf.both,
        },
      ]
    : [
        {
          parameter,
          code: 'missing',
          reason: `must be set unless ${other} is`,
          sentence: oneOf.neither,
        },
      ]
}

function parseObject(bytes: Uint8Array): Readonly<Record<string, unknown>> {
  const text = attempt(() => utf8.decode(bytes))
  if (text === undefined) throw invalidBody('not_utf8', 'must be JSON in UTF-8')
  // Parsing thousands of members takes milliseconds.
  if (membersAtMost(text) > limits.bodyMembersMax) {
    throw invalidBody('too_many', `must have at most ${limits.bodyMembersMax} members`)
  }
  const value = parseJson(text)
  if (value === undefined) throw invalidBody(...faultOf(text))
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalidBody('wrong_type', 'must be a JSON object')
  }
  const repeated = repeatedMembers(text, value)
  if (repeated.length > 0) {
    throw invalidParameters(
      repeated.map((member) => ({
        parameter: echo(member),
        code: 'repeated',
        reason: 'must be given once',
      })),
    )
  }
  return value as Readonly<Record<string, unknown>>
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** What was sent instead of JSON, or where it stops being JSON. */
function faultOf(text: string): [ParameterFault['code'], string] {
  const start = text.slice(0, 200).trimStart()
  if (start === '') return ['missing', 'must be a JSON object, and nothing was sent']
  if (start.startsWith('<')) return ['not_json', 'must be JSON, and XML was sent']
  if (/^(?:--[^\r\n]+\r?\ncontent-disposition:|[\w.+%[\]-]+=)/i.test(start)) {
    return ['not_json', 'must be JSON, and a form was sent']
  }
  const scan = scanJson(text)
  if ('repeated' in scan) return ['not_json', 'must be JSON']
  const { line, column, reason } = scan.fault
  return ['not_json', `must be JSON; in line ${line}, column ${column} ${reason}`]
}

const invalidBody = (code: ParameterFault['code'], reason: string): Problem =>
  invalidParameters([{ parameter: 'body', code, reason, sentence: `the body ${reason}` }])
