import assert from 'node:assert/strict'
import fs, { existsSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, describe, test } from 'node:test'
import { limitNamed, programName } from '@bursar/base'
import type { Command } from 'commander'
import { temporaryFolder } from '../../../test/support/harness.ts'
import { aFiatAccount, anId } from '../../../test/support/records.ts'
import { collectOutput, runBursar } from '../../../test/support/run-bursar.ts'
import { until } from '../../../test/support/until.ts'
import { takeTime } from '../../../test/support/virtual-time.ts'
import { programOf } from '../src/commands.ts'
import { standardOutput } from '../src/output.ts'

const folder = temporaryFolder()
after(() => rmSync(folder, { recursive: true, force: true }))

const everyCommand = (command: Command): readonly Command[] => [
  command,
  ...command.commands.flatMap(everyCommand),
]

/** The program with every command in this process, which throws instead of an exit. */
async function openProgram() {
  const { output, printed } = collectOutput()
  const program = await programOf([], output)
  for (const command of everyCommand(program)) command.exitOverride()
  const run = (words: readonly string[]) => program.parseAsync(words, { from: 'user' })
  return { program, run, printed }
}

async function printed(name: string, ...words: readonly string[]): Promise<string> {
  const { run, printed } = await openProgram()
  await run([...words, '--database', `sqlite:${join(folder, name)}`])
  return printed().out.trimEnd()
}

const pathOf = (command: Command): string =>
  command.parent === null ? '' : `${pathOf(command.parent)} ${command.name()}`.trim()

describe('the help', async () => {
  /** Whether a command does something itself. `imports` does, and has `imports cancel` besides. */
  const acts = (command: Command) =>
    command.commands.length === 0 ||
    command.registeredArguments.length > 0 ||
    ['imports', 'audit'].includes(command.name())
  const leaves = everyCommand((await openProgram()).program).filter(acts)

  for (const path of leaves.map(pathOf)) {
    test(`of ${path} has an example that the command accepts`, async () => {
      const { program, run, printed } = await openProgram()
      await assert.rejects(run([...path.split(' '), '--help']), { exitCode: 0 })
      const [, lines = ''] = printed().out.split(/\n(?:Examples|Exit codes):\n/)
      const given = lines.match(/^ {2}\S.*$/gm) ?? []
      assert.notEqual(given.length, 0, 'it has no example')
      for (const example of given) {
        assert.ok(example.startsWith(`  ${programName()} ${path}`), example)
        const words = example
          .slice(`  ${programName()} `.length)
          .replace(/ [<>] \S+/, '')
          .match(/"[^"]*"|\S+/g)
          ?.map((word) => word.replaceAll('"', ''))
        const seen: string[] = []
        for (const command of everyCommand(program)) {
          if (acts(command)) command.action(() => void seen.push(pathOf(command)))
        }
        await run(words ?? [])
        assert.deepEqual(seen, [path], example)
      }
    })
  }

  test('states the exit codes of every command, as docs/running.md does', async () => {
    const [, section = ''] = readFileSync('docs/running.md', 'utf8').split('\n## Exit codes\n')
    const [table = ''] = section.split('\n## ')
    const documented = [
      ...table.matchAll(/^\| (?:`(.*?)`|every other) +\| (\d.*?) +\| (.*?) +\|$/gm),
    ]
    const codesOf = (path: string) =>
      documented.flatMap(([, name = '', code, meaning]): [string, string][] =>
        name === path ? [[String(code), String(meaning)]] : [],
      )
    const paths = everyCommand((await openProgram()).program).map(pathOf)
    for (const path of paths) {
      const { run, printed } = await openProgram()
      await assert.rejects(run([...path.split(' ').filter(Boolean), '--help']), { exitCode: 0 })
      const [, lines = ''] = printed().out.split('\nExit codes:\n')
      const stated = [...lines.matchAll(/^ {2}(\d[\d, ]*): (.*)$/gm)].map(([, ...row]) => row)
      const expected = { ...Object.fromEntries(codesOf('')), ...Object.fromEntries(codesOf(path)) }
      assert.deepEqual(Object.fromEntries(stated), expected, path)
    }
    assert.deepEqual(
      documented
        .map(([, name = '']) => name)
        .filter((name) => name !== '' && !paths.includes(name)),
      [],
    )
  })

  test('describes every command, argument and option by a sentence', async () => {
    for (const command of everyCommand((await openProgram()).program)) {
      const texts = [
        command.description(),
        ...command.registeredArguments.map(({ description }) => description),
        ...command
          .createHelp()
          .visibleOptions(command)
          .map(({ description }) => description),
      ]
      for (const text of texts) assert.match(text, /^[A-Z].*\.\)?$/, `${pathOf(command)}: ${text}`)
    }
  })
})

test('the program opens the command that runs, and every command for its help', async () => {
  const namesOf = async (words: readonly string[]) =>
    (await programOf(words, collectOutput().output)).commands.map((command) => command.name())
  assert.deepEqual(await namesOf(['serve', '--port', '0']), ['serve'])
  const all = (await openProgram()).program.commands.map((command) => command.name())
  for (const words of [['--help'], ['help', 'serve'], ['constructor'], []]) {
    assert.deepEqual(await namesOf(words), all, words.join(' '))
  }
})

test('the help of the program shows its commands in groups', async () => {
  const { run, printed } = await openProgram()
  await assert.rejects(run(['--help']), { exitCode: 0 })
  const groups = ['Servers', 'Records', 'Clients, keys and fees', 'Store', 'Checks', 'Help']
  assert.deepEqual(printed().out.match(/^[A-Z][\w, ]+(?=:$)/gm), [
    'Options',
    ...groups,
    'Exit codes',
  ])
})

test('the program is named as its operator starts it', () => {
  assert.equal(programName('/srv/bursar/src/main.ts'), 'npm run -s bursar --')
  assert.equal(programName('/usr/lib/node_modules/bursar/dist/main.js'), 'bursar')
  assert.equal(programName('/usr/local/bin/bursar'), 'bursar')
})

test('migrate says which migrations it applied, and when there was none', async () => {
  const first = await printed('new.db', 'migrate')
  assert.equal(first, 'up to date; applied 2 migrations: records, credentials')
  assert.equal(
    await printed('new.db', 'migrate', '--check'),
    'up to date; there was nothing to apply; no integrity faults in 0 records',
  )
})

test('migrate --check names the records whose full form is gone, and no other value', async () => {
  const file = join(folder, 'emptied.ndjson')
  writeFileSync(file, JSON.stringify(aFiatAccount()))
  await printed('emptied.db', 'import', 'fiat-accounts', file)
  const db = new DatabaseSync(join(folder, 'emptied.db'))
  db.exec('delete from fiat_account_full')
  db.close()
  await assert.rejects(printed('emptied.db', 'migrate', '--check'), {
    message: `the store is damaged; import the records that this list names again, or restore a backup:
fiat-accounts ${anId(1)}: the full record is missing`,
  })
  await printed('emptied.db', 'import', 'fiat-accounts', file)
  assert.match(
    await printed('emptied.db', 'migrate', '--check'),
    /no integrity faults in 1 record$/,
  )
})

test('client list and keys rotate-master count in the singular and the plural', async () => {
  const made = await printed('counts.db', 'client', 'create', '--customer', 'a', '--name', 'A')
  const [, id = ''] = /client_id: (\S+)/.exec(made) ?? []
  assert.match(await printed('counts.db', 'client', 'list'), / 1 secret {2}A {2}transfer:/)
  await printed('counts.db', 'client', 'rotate', id)
  assert.match(await printed('counts.db', 'client', 'list'), / 2 secrets {2}A {2}transfer:/)
  const ofOther = await printed('counts.db', 'client', 'list', '--customer', 'b')
  assert.equal(ofOther, '')
  assert.match(await printed('counts.db', 'keys', 'rotate-master'), /^Wrapped \d+ keys\. /)
})

const aFeeId = '11111111-1111-4111-8111-111111111111'
const consume = `fee consume ${aFeeId} --customer a --asset BTC --network BITCOIN --address b --amount 1 --withdrawal w`

const creating = [
  'import fiat-accounts examples/records/fiat-accounts.ndjson',
  'client create --customer a --name A',
  'migrate',
]
const opening = [
  'import fiat-accounts examples/records/fiat-accounts.ndjson --dry-run',
  'import fiat-accounts examples/records/fiat-accounts.ndjson --no-create',
  'imports',
  `imports cancel ${aFeeId}`,
  'export fiat-accounts',
  'client create --customer a --name A --no-create',
  'client list',
  'client rotate x',
  'client disable x',
  'keys list',
  'keys rotate',
  'keys rotate-master',
  `fee show ${aFeeId}`,
  consume,
  'migrate --check',
]

const ranAsGiven = async (name: string, words: string): Promise<unknown> => {
  const { run } = await openProgram()
  return await run([...words.split(' '), '--database', `sqlite:${join(folder, name)}`]).catch(
    (error: unknown) => (error instanceof Error ? error.message : error),
  )
}

test('a command that only reads makes no store, and neither does serve', async () => {
  const path = join(folder, 'missing', 'mistyped.db')
  const sentence = `there is no store at ${path}; check DATABASE_URL and that its volume is mounted, or make a new store with \`bursar migrate\` or \`serve --create\``
  for (const words of opening) {
    assert.equal(await ranAsGiven('missing/mistyped.db', words), sentence, words)
  }
  assert.equal(existsSync(join(folder, 'missing')), false)
})

test('a command that writes makes both databases, and leaves an existing store as it is', async () => {
  for (const [at, words] of creating.entries()) {
    const name = `made-${at}.db`
    await printed(name, ...words.split(' '))
    await printed(name, ...words.split(' '))
    assert.match(
      await printed(name, 'migrate', '--check'),
      /no integrity faults in \d records$/,
      words,
    )
  }
  assert.equal((await printed('made-1.db', 'client', 'list')).split('\n').length, 2)
})

test('half a store is refused until migrate --create completes it', async () => {
  const [records, credentials] = [join(folder, 'half.db'), join(folder, 'half.credentials.db')]
  const lose = [
    (path: string) => rmSync(path),
    // A full disk or a broken copy leaves such a file, which SQLite takes for a new database.
    (path: string) => truncateSync(path),
  ]
  for (const [lost, kept, what] of [
    [records, credentials, 'the records of all customers'],
    [credentials, records, 'the clients, keys and guaranteed fees'],
  ] as const) {
    for (const loseFile of lose) {
      await printed('half.db', 'migrate', '--create')
      loseFile(lost)
      for (const words of [...opening, ...creating]) {
        assert.equal(
          await ranAsGiven('half.db', words),
          `${lost} is missing or empty, but ${kept} exists. It holds ${what}. Mount its volume or restore a backup. \`bursar migrate --create\` makes an empty one in its place.`,
          words,
        )
      }
    }
  }
  assert.match(await printed('half.db', 'migrate', '--create'), /^up to date; applied /)
  assert.equal(await printed('half.db', 'client', 'list'), '')
})

test('client create takes scopes with commas between them', async () => {
  const scope = 'transfer:read_fiat_account,statements:read_statement'
  const words = ['client', 'create', '--customer', 'a', '--name', 'A', '--scope', scope]
  assert.match(
    await printed('commas.db', ...words),
    /^scope: transfer:read_fiat_account statements:read_statement$/m,
  )
})

test('a hint names the program as it was started, and an unknown id without controls', async () => {
  const { run, printed: printedBy } = await openProgram()
  const store = `sqlite:${join(folder, 'hint.db')}`
  await printed('hint.db', 'migrate')
  await assert.rejects(run(['client', 'disable', 'x\u001b[2J', '--database', store]))
  assert.equal(
    printedBy().err,
    'There is no client x\\u{1b}[2J. `npm run -s bursar -- client list` shows them all.\n',
  )
})

test('wrong usage points to the help of its command', async () => {
  for (const [words, error] of [
    [
      ['import'],
      "error: missing required argument 'kind'\nSee npm run -s bursar -- import --help\n",
    ],
    [
      ['client', 'lst'],
      /unknown command 'lst'\n\(Did you mean list\?\)\nSee .* -- client --help\n$/,
    ],
  ] as const) {
    const { run, printed } = await openProgram()
    await assert.rejects(run(words))
    const told = printed().err
    if (typeof error === 'string') assert.equal(told, error)
    else assert.match(told, error)
  }
})

test('history prune rests after each step but the last', async () => {
  const url = `sqlite:${join(folder, 'pruned.db')}`
  const record = JSON.stringify(aFiatAccount())
  assert.equal((await runBursar(url, ['import', 'fiat-accounts', '-'], record)).code, 0)
  using time = takeTime()
  let deleted: string | undefined
  const words = ['history', 'prune', '--before', '2026-01-01T00:00:00Z']
  const pruned = runBursar(url, words).then(({ out }) => {
    deleted = out
  })
  // There is a step for each of three tables. Beside a rest, the store has one job that waits.
  for (const rest of ['first', 'second']) {
    await until(() => time.waiting() === 2)
    await time.advance(limitNamed('pruneRestMs') - 1)
    assert.equal(time.waiting(), 2, rest)
    await time.advance(1)
  }
  await pruned
  assert.deepEqual([deleted, time.waiting()], ['deleted 0 versions\n', 0])
})

test('a secret is written to a pipe that is full once its reader has read', async (t) => {
  const written: string[] = []
  let isFull = true
  t.mock.method(fs, 'writeSync', (_: number, bytes: Uint8Array) => {
    if (isFull) throw Object.assign(new Error('the pipe is full'), { code: 'EAGAIN' })
    isFull = true
    written.push(Buffer.from(bytes.subarray(0, 4)).toString())
    return Math.min(4, bytes.length)
  })
  syncBuiltinESMExports()
  try {
    using time = takeTime()
    const revealed = standardOutput.reveal('secret')
    await time.advance(50)
    isFull = false
    await time.advance(9)
    assert.deepEqual(written, [])
    await time.advance(1)
    isFull = false
    await time.advance(10)
    await revealed
    assert.deepEqual(written, ['secr', 'et\n'])
  } finally {
    t.mock.restoreAll()
    syncBuiltinESMExports()
  }
})
