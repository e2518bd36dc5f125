#!/usr/bin/env node
import { type ChildProcess, spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { constants } from 'node:os'
import { fileURLToPath } from 'node:url'

/**
 * The command of the package. It runs in this Node if that suffices, else in the Node that the
 * optional dependencies bring. Every Node since 20 must be able to parse this file.
 */

/** The first Node with `AsyncDisposableStack` and every call of SQLite that the stores make. */
const MAJOR_MIN = 24
/** The Node that the tests run in. */
const MAJOR_TESTED = 26

const PARENT_CHECK_MS = 500

const [major = 0] = process.versions.node.split('.').map(Number)
const own = major < MAJOR_TESTED ? ownNode() : undefined
if (own !== undefined) runIn(own)
else if (major >= MAJOR_MIN) {
  hideSqliteWarning()
  await import('./main.ts')
} else {
  process.stderr.write(
    `Bursar needs Node ${MAJOR_MIN} or later, and this is Node ${process.versions.node}. The Node that Bursar brings is an optional dependency, which is not installed; install it with npm install --include=optional.\n`,
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
  const main = fileURLToPath(new URL('./main.js', import.meta.url))
  // The channel tells the program when this process is killed.
  const child = spawn(node, [main, ...process.argv.slice(2)], {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  })
  forwardSignals(child)
  // Whoever started this command over a channel, such as a test, is gone.
  process.channel?.unref()
  process.once('disconnect', () => child.kill())
  endWithNpx(child)
  child.on('exit', (code, signal) => {
    process.exitCode = code ?? 128 + (signal === null ? 0 : constants.signals[signal])
  })
}

/** npx passes a signal to its shell only, which dies of it and leaves this process behind. */
function endWithNpx(child: ChildProcess): void {
  if (process.env.npm_lifecycle_event !== 'npx') return
  const parent = process.ppid
  setInterval(() => {
    if (process.ppid !== parent) child.kill('SIGINT')
  }, PARENT_CHECK_MS).unref()
}

function forwardSignals(child: ChildProcess): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => child.kill(signal))
  }
}

/** The executable of the package for this platform, as package.json names it. */
function ownNode(): string | undefined {
  const { platform, arch } = process
  const name = platform === 'win32' ? 'win' : platform
  const { resolve } = createRequire(import.meta.url)
  const file = platform === 'win32' ? 'node.exe' : 'node'
  for (const prefix of ['node', 'node-bin']) {
    try {
      return resolve(`${prefix}-${name}-${arch}/bin/${file}`)
    } catch {
      // The package is for another platform, or was left out.
    }
  }
  return undefined
}
