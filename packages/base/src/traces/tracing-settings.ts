import { ConfigError } from '../config.ts'
import { limitsOf } from '../declare-limits.ts'
import { httpUrlFault } from '../values/given-text.ts'

const limits = limitsOf({
  /** An engineer who looks at a trace waits so long for it, and at most. */
  spansSentMs: 2000,
  spansSentMsMax: 60_000,
})

/** How traces are sampled. The exporter reads the endpoint, headers and certificates itself. */
export type TracingSettings = {
  /** Whether the sampled flag of a caller decides, where it has sent one. */
  readonly followsCaller: boolean
  /** The part of all other traces that is recorded, from 0 to 1. */
  readonly ratio: number
  /** How long spans wait for others, to be sent together. */
  readonly delayMs: number
}

type Environment = Readonly<Record<string, string | undefined>>

/**
 * Reads OpenTelemetry's variables. Undefined if nothing is to be sent. Throws a ConfigError for
 * what the program cannot do: a trace that goes nowhere would be missed when it is needed.
 */
export function readTracingSettings(environment: Environment): TracingSettings | undefined {
  const given = (name: string) => {
    const value = environment[name]?.trim()
    return value === undefined || value === '' ? undefined : value
  }
  const ofTraces = (name: string) => {
    const names = [`OTEL_EXPORTER_OTLP_TRACES_${name}`, `OTEL_EXPORTER_OTLP_${name}`]
    return names.flatMap((each) => {
      const value = given(each)
      return value === undefined ? [] : [{ name: each, value }]
    })[0]
  }
  const endpoint = ofTraces('ENDPOINT')
  const exporter = given('OTEL_TRACES_EXPORTER') ?? 'otlp'
  const isDisabled = given('OTEL_SDK_DISABLED')?.toLowerCase() === 'true'
  if (endpoint === undefined || isDisabled || exporter === 'none') return undefined
  if (exporter !== 'otlp') throw new ConfigError('OTEL_TRACES_EXPORTER must be otlp or none')
  // An endpoint may have a password, so the message does not repeat it.
  const fault = httpUrlFault(endpoint.value)
  if (fault !== undefined) throw new ConfigError(`${endpoint.name} ${fault}`)
  const protocol = ofTraces('PROTOCOL')
  if (protocol !== undefined && protocol.value !== 'http/protobuf') {
    throw new ConfigError(`${protocol.name} must be http/protobuf, the only protocol of Bursar`)
  }
  const delayMs = Number(given('OTEL_BSP_SCHEDULE_DELAY') ?? limits.spansSentMs)
  if (!Number.isInteger(delayMs) || delayMs < 1 || delayMs > limits.spansSentMsMax) {
    throw new ConfigError(
      `OTEL_BSP_SCHEDULE_DELAY must be a whole number from 1 to ${limits.spansSentMsMax}`,
    )
  }
  const sampling = samplingOf(given('OTEL_TRACES_SAMPLER'), given('OTEL_TRACES_SAMPLER_ARG'))
  return { ...sampling, delayMs }
}

function samplingOf(name = 'parentbased_always_on', argument = '1') {
  const [, parent, root] = /^(parentbased_)?(always_on|always_off|traceidratio)$/.exec(name) ?? []
  if (root === undefined) {
    throw new ConfigError(`OTEL_TRACES_SAMPLER must be one of ${samplers.join(', ')}`)
  }
  const ratio = root === 'traceidratio' ? Number(argument) : Number(root === 'always_on')
  if (!(ratio >= 0 && ratio <= 1)) {
    throw new ConfigError('OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1')
  }
  return { followsCaller: parent !== undefined, ratio }
}

const roots = ['always_on', 'always_off', 'traceidratio']
const samplers = [...roots, ...roots.map((root) => `parentbased_${root}`)]
