import { type Logger as PinoLogger, pino } from 'pino'
import { type LogOutput, type LogOutputState, openLogOutput } from './machine/stderr.ts'
import { systemTime } from './time.ts'

export type Logger = PinoLogger

export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const
export type LogLevel = (typeof logLevels)[number]

/** The message of a line about a request. */
export const REQUEST_LINE = 'request'

/**
 * Logs one JSON object per line to stderr; stdout is for the results of commands. Request lines of
 * one turn of the event loop share a write, so a process that is killed loses those of its last
 * turn. Every other line is written at once, and so is a warning.
 */
export function openLog(level: LogLevel): Logger {
  const output = openLogOutput((dropped) => {
    log.error({ dropped }, `${dropped} log lines were dropped, since nobody read the log`)
  })
  const destination = {
    [pino.symbols.needsMetadataGsym]: true as const,
    // Pino notes level and message of a line before it writes the line.
    lastLevel: 0,
    lastMsg: '',
    write: (line: string) => {
      const { lastLevel, lastMsg } = destination
      output.write(line, lastMsg !== REQUEST_LINE || lastLevel >= WARN)
    },
    state: output.state,
  }
  const log: Logger = pino(
    {
      level,
      base: null,
      timestamp: openStamp(),
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: describeError },
    },
    destination,
  )
  return log
}

/** The time of a line. Lines of one millisecond share the text, which is dear to print. */
function openStamp(): () => string {
  let at = Number.NaN
  let stamp = ''
  return () => {
    const now = Number(systemTime.now() / 1000n)
    if (now !== at) stamp = `,"time":"${new Date(now).toISOString()}"`
    at = now
    return stamp
  }
}

const WARN = pino.levels.values.warn ?? 0

/** How far the reader of a log, or of its children, is behind. */
export function logStateOf(log: Logger): LogOutputState | undefined {
  const output: Partial<LogOutput> | undefined = Reflect.get(log, pino.symbols.streamSym)
  return output?.state?.()
}

/** Leaves out `detail`, where PostgreSQL puts values of the row. */
function describeError(error: unknown): object {
  if (!(error instanceof Error)) return { type: typeof error }
  const { code } = error as { code?: unknown }
  const frames = (error.stack ?? '').split('\n').filter((line) => line.startsWith('    at '))
  return {
    type: error.name,
    ...(typeof code === 'string' && { code }),
    message: error.message.slice(0, 300),
    stack: frames.join('\n'),
  }
}
