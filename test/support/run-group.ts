import assert from 'node:assert/strict'
import { globSync } from 'node:fs'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { MessageChannel } from 'node:worker_threads'
import fc from 'fast-check'
import { isLong } from './long.ts'
import type { StoreName } from './test-database.ts'
import { until } from './until.ts'
import { openJobs, watchJobs } from './watched-jobs.ts'

/**
 * Runs the test files of a group, whose folder lies among the tests, one after the other in this
 * process, which loads the program once. Each file is a suite, so its hooks at the top level are
 * its own: `--test-isolation=none` would give them to the root of all files. A file fails if it
 * leaves a changed variable or a job, and the group fails if it leaves a handle that keeps the
 * process alive, or a database.
 */
export async function runGroup(
  { dirname }: Pick<ImportMeta, 'dirname'>,
  store: StoreName,
  ...patterns: readonly string[]
): Promise<void> {
  process.env.BURSAR_TEST_STORE = store
  watchJobs()
  // The same runs each time: a red gate is the change. Long runs have fresh seeds.
  if (!isLong) fc.configureGlobal({ seed: 20_261_126 })
  const root = join(dirname, '..')
  const files = patterns.flatMap((pattern) => {
    const found = globSync(pattern, { cwd: root }).toSorted()
    if (found.length === 0) throw new Error(`no test file is named ${pattern}`)
    return found
  })
  // Timers of the product keep no process alive, so a test that waits for one needs something else.
  const alive = new MessageChannel().port1
  alive.on('message', () => {})
  for (const file of new Set(files)) {
    const before = { ...process.env }
    await describe(file, async () => {
      await import(pathToFileURL(join(root, file)).href)
      after(async () => {
        assertUnchanged(before)
        await until(() => openJobs().length === 0).catch(() => {
          throw new Error(`the file left jobs that go on, begun at:\n${openJobs().join('\n')}`)
        })
      })
    })
  }
  alive.close()
  await test('the group leaves nothing open', async () => {
    await until(() => openHandles().length === 0).catch(() => {
      // What is open would keep the process, and so the run, from ending.
      setImmediate(() => setImmediate(() => process.exit(1)))
      throw new Error(`still open: ${openHandles().join(', ')}`)
    })
  })
  if (store === 'postgres') {
    await test('the group leaves no database and no session', async () => {
      const { databasesOfProcess } = await import('./test-database.ts')
      assert.deepEqual(await databasesOfProcess(), [])
    })
  }
}

function assertUnchanged(before: NodeJS.ProcessEnv): void {
  const names = new Set([...Object.keys(before), ...Object.keys(process.env)])
  const changed = [...names].filter((name) => before[name] !== process.env[name])
  if (changed.length > 0) throw new Error(`the file left changed: ${changed.join(', ')}`)
  if (process.exitCode !== undefined) throw new Error('the file left an exit code')
}

/** Kinds of what keeps the process alive, besides its standard streams and the turn of the loop. */
const openHandles = (): string[] => {
  const open = process.getActiveResourcesInfo()
  const own = ['Immediate', 'TickObject']
  const pipes = open.filter((kind) => kind === 'PipeWrap').slice(3)
  return [...pipes, ...open.filter((kind) => !own.includes(kind) && kind !== 'PipeWrap')]
}
