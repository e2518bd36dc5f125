#!/usr/bin/env node
import { type ChildProcess, spawn } from 'node:child_process'
import { constants } from 'node:os'
import { fileURLToPath } from 'node:url'
import { NoOwnNode, ownNode, systemTime } from '@bursar/base'

/**
 * The command of the package. It runs in this Node if that suffices, else in one that it installs
 * for itself. Every Node since 20 must be able to parse this file.
 */

/** The first Node with `AsyncDisposableStack` and every call of SQLite that the stores make. */
const MAJOR_MIN = 24

const PARENT_CHECK_MS = 500

const [major = 0] = process.versions.node.split('.').map(Number)
if (major >= MAJOR_MIN) {
  hideSqliteWarning()
  await import('./main.ts')
} else {
  try {
    runIn(await ownNode())
  } catch (error) {
    if (!(error instanceof NoOwnNode)) throw error
    fail(error.message)
  }
}

function fail(reason: string): void {
  process.stderr.write(
    `Bursar needs Node ${MAJOR_MIN} or later, and this is Node ${process.versions.node}. It could not install a newer Node for itself: ${reason}. Use Node ${MAJOR_MIN} or later, or run \`npx bursar --version\` once where npm reaches its registry and the package's folder can be written.\n`,
  )
  process.exitCode = 1
}

/** Before Node 26, SQLite warns at every start that it may change. */
function hideSqliteWarning(): void {
  const { emitWarning } = process
  process.emitWarning = (warning: string | Error, ...rest: unknown[]) => {
    if (String(warning).startsWith('SQLite is an experimental feature')) return
    Reflect.apply(emitWarning, process, [warning, ...rest])
  }
}

function runIn(node: string): void {
  const main = fileURLToPath(new URL('../../main.js', import.meta.url))
  // The channel tells the program when this process is killed.
  const child = spawn(node, [main, ...process.argv.slice(2)], {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  })
  forwardSignals(child)
  // The process that started this command over a channel, such as a test, may have ended.
  process.channel?.unref()
  process.once('disconnect', () => child.kill())
  endWithNpx(child)
  // Such as one for another C library.
  child.on('error', (error) => fail(`it does not start (${error.message})`))
  child.on('exit', (code, signal) => {
    process.exitCode = code ?? 128 + (signal === null ? 0 : constants.signals[signal])
  })
}

/** npx passes a signal to its shell only, which dies of it and leaves this process behind. */
function endWithNpx(child: ChildProcess): void {
  if (process.env.npm_lifecycle_event !== 'npx') return
  const parent = process.ppid
  systemTime.every(PARENT_CHECK_MS, () => {
    if (process.ppid !== parent) child.kill('SIGINT')
  })
}

function forwardSignals(child: ChildProcess): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => child.kill(signal))
  }
}
