import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { freePort } from '../support/free-port.ts'
import { temporaryFolder } from '../support/harness.ts'
import { runProgram, startProgram } from '../support/program.ts'

/** examples/systemd: what systemd says of the unit, and what its start line does. */

const EXPOSURE_MAX = 2

const hasSystemd = spawnSync('which', ['systemd-analyze']).status === 0
const skip = !hasSystemd && process.env.CI !== 'true'
const unit = readFileSync('examples/systemd/bursar.service', 'utf8')
const lineOf = (name: string): string =>
  new RegExp(`^${name}=(.*)$`, 'm').exec(unit)?.[1] ?? assert.fail(name)

describe('examples/systemd/bursar.service', () => {
  const folder = temporaryFolder()
  const file = join(folder, 'bursar.service')
  after(() => rmSync(folder, { recursive: true, force: true }))

  before(() => {
    // `verify` looks for the program, which is not installed here.
    const program = join(folder, 'bursar')
    writeFileSync(program, '')
    chmodSync(program, 0o755)
    writeFileSync(file, unit.replace('ExecStart=/usr/local/bin/bursar', `ExecStart=${program}`))
  })

  test('has no fault that systemd finds', { skip }, () => {
    const ran = spawnSync('systemd-analyze', ['verify', file], { encoding: 'utf8' })
    assert.deepEqual([ran.status, ran.stderr], [0, ''])
  })

  test(`has an exposure below ${EXPOSURE_MAX.toFixed(1)}`, { skip }, (t) => {
    const words = ['security', '--offline=true', `--threshold=${EXPOSURE_MAX * 10 - 1}`, file]
    const ran = spawnSync('systemd-analyze', words, { encoding: 'utf8' })
    const [, exposure = '?'] = /Overall exposure level .*: ([\d.]+)/.exec(ran.stdout) ?? []
    t.diagnostic(`the exposure is ${exposure}`)
    assert.equal(ran.status, 0, ran.stdout)
    assert.ok(Number(exposure) < EXPOSURE_MAX, ran.stdout)
  })

  test('permits every system call that lowers a priority, as the writer of streams does', {
    skip,
  }, () => {
    const filters = [...unit.matchAll(/^SystemCallFilter=(.*)$/gm)].map(([, filter]) => filter)
    assert.match(filters.at(-1) ?? '', /\bsetpriority\b/)
    const { stdout } = spawnSync('systemd-analyze', ['syscall-filter', '@resources'], {
      encoding: 'utf8',
    })
    assert.match(stdout, /\bsetpriority\b/)
  })

  test('starts a server with the master key and the URL of the credential', async (t) => {
    const credentials = join(folder, 'credentials')
    mkdirSync(credentials, { mode: 0o500 })
    const port = await freePort()
    const [name = '', source] = lineOf('LoadCredential').split(':')
    assert.equal(source, `/etc/bursar/${name}`)
    const sample = JSON.parse(readFileSync(`examples/systemd/${name}`, 'utf8'))
    const masterKey = randomBytes(32).toString('base64')
    const databaseUrl = sample.databaseUrl.replace('/var/lib/bursar', folder)
    assert.match(sample.masterKey, /^0{43}=$/)
    const content = JSON.stringify({ ...sample, masterKey, databaseUrl })
    writeFileSync(join(credentials, name), content, { mode: 0o400 })
    const sampleEnv = readFileSync('examples/systemd/bursar.env', 'utf8')
    const env: Readonly<Record<string, string>> = {
      ...Object.fromEntries([...sampleEnv.matchAll(/^(\w+)=(.*)$/gm)].map(([, ...pair]) => pair)),
      BURSAR_OPERATOR_PORT: '0',
      PORT: String(port),
    }
    const [program, ...words] = lineOf('ExecStart').replaceAll('%d', credentials).split(' ')
    assert.equal(program, '/usr/local/bin/bursar')
    const config = words.slice(1)
    const migrated = await runProgram(['migrate', ...config], { env })
    assert.equal(migrated.code, 0, migrated.errors)
    const server = startProgram(words, { env, mustExist: true })
    t.after(() => server.kill('SIGKILL'))
    assert.equal(await server.firstLine, `listening on ${env.BURSAR_PUBLIC_URL}`)
    assert.equal((await fetch(`http://127.0.0.1:${port}/readyz`)).status, 200)
    assert.equal(await server.kill(), 0, server.errors())
    // The key lies in the credential, so none was written beside the store.
    const kept = spawnSync('ls', [folder], { encoding: 'utf8' }).stdout.split('\n')
    assert.ok(kept.includes('bursar.db') && !kept.includes('bursar.master-key'), kept.join())
  })
})
