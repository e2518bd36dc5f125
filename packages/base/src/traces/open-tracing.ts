import { createRequire } from 'node:module'
import type * as Api from '@opentelemetry/api'
import type * as Otlp from '@opentelemetry/exporter-trace-otlp-proto'
import type * as Resources from '@opentelemetry/resources'
import type * as SdkTrace from '@opentelemetry/sdk-trace'
import type { SpanExporter, SpanProcessor } from '@opentelemetry/sdk-trace'
import { ConfigError } from '../config.ts'
import { limitsOf } from '../declare-limits.ts'
import type { Logger } from '../log.ts'
import { systemTime } from '../time.ts'
import { printable } from '../values/printable.ts'
import { version } from '../version.ts'
import { openRecorder, type Recorder } from './recorder.ts'
import { readTracingSettings, type TracingSettings } from './tracing-settings.ts'

const limits = limitsOf({
  /** Spans that wait for a receiver that is slow or down: some 200 requests, in about 2 MB. */
  spansWaitingMax: 2048,
  /** Spans of one request to the receiver, as OpenTelemetry recommends: about 150 KB. */
  spansPerExportMax: 512,
  /** How long a request to the receiver may take, and so the end of a server waits for the last. */
  spansFlushedMs: 3000,
  /** Warnings about lost spans are as far apart. */
  spansLostWarnedMs: 60_000,
})

/** Where the spans of requests go. */
export type Tracing = Recorder & {
  /** Sends what is left, for a bounded time. */
  close(): Promise<void>
}

/** What an operator installs beside Bursar. The names and ranges are those of package.json. */
export const tracingPackages = {
  '@opentelemetry/api': '^1.10.0',
  '@opentelemetry/exporter-trace-otlp-proto': '^0.301.1',
  '@opentelemetry/resources': '^3.1.1',
  '@opentelemetry/sdk-trace': '^3.1.1',
}

/**
 * Sends traces by OpenTelemetry's SDK, if its variables name a receiver. Otherwise nothing of the
 * SDK is loaded. Nothing of it becomes global, and no library is instrumented.
 */
export function openTracing(
  environment: Readonly<Record<string, string | undefined>>,
  log: Logger,
): Tracing | undefined {
  const settings = readTracingSettings(environment)
  if (settings === undefined) return undefined
  const sdk = loadSdk()
  const { BatchSpanProcessor, TracerProvider } = sdk.trace
  const failures = openFailures(log)
  const processor = new BatchSpanProcessor({
    exporter: failures.watch(
      new sdk.otlp.OTLPTraceExporter({ timeoutMillis: limits.spansFlushedMs }),
    ),
    maxQueueSize: limits.spansWaitingMax,
    maxExportBatchSize: limits.spansPerExportMax,
    scheduledDelayMillis: settings.delayMs,
  })
  const provider = new TracerProvider({
    resource: resourceOf(sdk),
    sampler: samplerOf(sdk, settings),
    spanProcessors: [failures.count(processor)],
  })
  const recorder = openRecorder(sdk.api, provider.getTracer('bursar', version))
  return { ...recorder, close: () => flush(provider, log) }
}

type Sdk = ReturnType<typeof loadSdk>

/** By `require`: Node warns of every `import` in the one script of the package. */
function loadSdk() {
  const load = createRequire(import.meta.url)
  try {
    const api: typeof Api = load('@opentelemetry/api')
    const trace: typeof SdkTrace = load('@opentelemetry/sdk-trace')
    const resources: typeof Resources = load('@opentelemetry/resources')
    const otlp: typeof Otlp = load('@opentelemetry/exporter-trace-otlp-proto')
    return { api, trace, resources, otlp }
  } catch (error) {
    if (Object(error).code !== 'MODULE_NOT_FOUND') throw error
    const names = Object.entries(tracingPackages).map(([name, range]) => `${name}@${range}`)
    throw new ConfigError(
      `An endpoint for traces is set, but the packages that send them are not installed. Run \`npm install ${names.join(' ')}\` where Bursar is installed, or unset the endpoint.`,
    )
  }
}

/** `OTEL_SERVICE_NAME` and `OTEL_RESOURCE_ATTRIBUTES` come last, so they replace the others. */
function resourceOf({ resources }: Sdk) {
  const own = resources.resourceFromAttributes({
    'service.name': 'bursar',
    'service.version': version,
  })
  const { resourceAttributesEnvDetector, serviceInstanceIdDetector, serviceNameEnvDetector } =
    resources
  const detected = resources.detectResources({
    detectors: [serviceInstanceIdDetector, resourceAttributesEnvDetector, serviceNameEnvDetector],
  })
  return resources.defaultResource().merge(own).merge(detected)
}

function samplerOf({ trace }: Sdk, { followsCaller, ratio }: TracingSettings) {
  const root = new trace.TraceIdRatioBasedSampler(ratio)
  return followsCaller ? new trace.ParentBasedSampler({ root }) : root
}

/**
 * Counts the spans that never arrive. Each is lost because the receiver has not taken it, or since
 * too many wait: the processor drops spans silently past its limit.
 */
function openFailures(log: Logger) {
  let [waiting, lost] = [0, 0]
  let warnedAt = Number.NEGATIVE_INFINITY
  const lose = (spans: number, error?: Error) => {
    lost += spans
    if (systemTime.elapsedMs() - warnedAt < limits.spansLostWarnedMs) return
    warnedAt = systemTime.elapsedMs()
    const { message = 'the receiver is too slow' } = error ?? {}
    // The status line of a receiver may say anything, at any length.
    log.warn(
      { spans: lost, reason: printable(message, 200) },
      'traces cannot be sent; spans were lost',
    )
    lost = 0
  }
  return {
    watch: (exporter: SpanExporter): SpanExporter => ({
      export: (spans, done) => {
        waiting -= spans.length
        exporter.export(spans, (result) => {
          if (result.code !== 0) lose(spans.length, result.error)
          done(result)
        })
      },
      shutdown: () => exporter.shutdown(),
      forceFlush: async () => exporter.forceFlush?.(),
    }),
    count: (processor: SpanProcessor): SpanProcessor => ({
      onStart: (span, context) => processor.onStart(span, context),
      onEnd: (span) => {
        if (waiting < limits.spansWaitingMax) waiting += 1
        else lose(1)
        processor.onEnd(span)
      },
      forceFlush: () => processor.forceFlush(),
      shutdown: () => processor.shutdown(),
    }),
  }
}

async function flush(provider: { shutdown(): Promise<void> }, log: Logger): Promise<void> {
  const late = Promise.withResolvers<string>()
  const cancel = systemTime.after(limits.spansFlushedMs, () => late.resolve('late'))
  const ended = provider.shutdown().then(
    () => undefined,
    () => 'failed',
  )
  const outcome = await Promise.race([ended, late.promise])
  cancel()
  if (outcome !== undefined) log.warn({ outcome }, 'the last traces were not sent')
}
