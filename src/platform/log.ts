import { type Logger as PinoLogger, pino } from 'pino'

export type Logger = PinoLogger

export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const
export type LogLevel = (typeof logLevels)[number]

/** Logs one JSON object per line to stderr; stdout is for the results of commands. */
export function openLog(level: LogLevel): Logger {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: describeError },
    },
    pino.destination({ fd: 2, sync: true }),
  )
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
