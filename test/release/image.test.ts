import assert from 'node:assert/strict'
import { once } from 'node:events'
import { globSync, readdirSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { after, before, describe, test } from 'node:test'
import {
  buildImage,
  type ContainerImage,
  canBuildImages,
  codeOf,
  filesBelow,
  killNode,
} from '../faults/support/container-image.ts'
import { freePort } from '../support/free-port.ts'
import { callUrl } from '../support/harness.ts'

const BYTES_MAX = 140_000_000
const USER = 10001

const skip = !canBuildImages() && process.env.CI !== 'true'

describe('the image', { skip }, () => {
  let image: ContainerImage

  before(() => {
    image = buildImage(resolve('examples/records'))
  })
  after(() => {
    image.remove()
  })

  test(`has at most ${BYTES_MAX} bytes`, (t) => {
    const bytes = filesBelow(image.files).reduce((sum, { size }) => sum + size, 0)
    t.diagnostic(`the files have ${(bytes / 1e6).toFixed(1)} MB`)
    assert.ok(bytes < BYTES_MAX, `${bytes}`)
    const [installed = ''] = globSync('node_modules/node-linux-*/bin/node')
    const stripped = statSync(join(image.files, 'usr/bin/node')).size
    assert.ok(stripped < statSync(installed).size - 20_000_000, `Node has ${stripped} bytes`)
  })

  test('has one Node, the command and libraries, and no other program', () => {
    const programs = filesBelow(image.files).filter(
      ({ path, isFolder, mode }) =>
        !isFolder && (mode & 0o111) !== 0 && !/^lib\d*\/.*\.so(\.|$)/.test(path),
    )
    assert.deepEqual(programs.map(({ path }) => path).toSorted(), [
      'usr/bin/bursar',
      'usr/bin/node',
      'usr/lib/bursar/dist/bin.js',
      'usr/lib/bursar/dist/main.js',
    ])
    const { code, errors } = image.run(['sh', '-c', 'true'])
    assert.notEqual(code, 0)
    assert.match(errors, /"sh": executable file not found/)
  })

  test('is what a release would push', () => {
    assert.ok(statSync(image.archive).size > 100_000_000, image.archive)
  })

  test('names the package of each library to scanners, with its license', () => {
    const status = readdirSync(join(image.files, 'var/lib/dpkg/status.d')).toSorted()
    assert.deepEqual(status, ['libatomic1', 'libc6', 'libgcc-s1', 'libstdc++6'])
    const licenses = readdirSync(join(image.files, 'usr/share/doc')).toSorted()
    assert.deepEqual(licenses, [...status, 'node'].toSorted())
  })

  test('belongs to root, and its user may write to the data folder only', () => {
    const files = filesBelow(image.files)
    const foreign = files.filter(({ owner, mode }) => owner !== '0:0' || (mode & 0o6022) !== 0)
    assert.deepEqual(
      foreign.map(({ path, mode, owner }) => [path, mode, owner]),
      [['var/lib/bursar', 0o700, `${USER}:${USER}`]],
    )
  })

  test('runs as its user, with a volume, a health check and a read-only root', () => {
    const { User, WorkingDir, Volumes, Entrypoint, Cmd, Healthcheck, Labels } = image.config
    assert.deepEqual(
      { User, WorkingDir, Volumes, Entrypoint, Cmd, Test: Healthcheck.Test },
      {
        User: `${USER}:${USER}`,
        WorkingDir: '/var/lib/bursar',
        Volumes: { '/var/lib/bursar': {} },
        Entrypoint: ['/usr/bin/bursar'],
        Cmd: ['serve'],
        Test: ['CMD', '/usr/bin/bursar', 'healthcheck'],
      },
    )
    assert.match(Labels.run ?? '', / --read-only --cap-drop all /)
  })

  test('migrates, serves, is healthy and drains, and changes nothing but its data', async (t) => {
    const port = await freePort()
    const url = `http://127.0.0.1:${port}`
    const operatorPort = String(await freePort())
    const env = { PORT: String(port), BURSAR_PUBLIC_URL: url, BURSAR_OPERATOR_PORT: operatorPort }
    const [program = '', ...rest] = [...image.config.Entrypoint, ...image.config.Cmd]
    const [, ...check] = image.config.Healthcheck.Test
    const run = (...words: string[]): string => {
      const { code, output, errors } = image.run([program, ...words], { env })
      assert.equal(code, 0, errors)
      return output
    }
    // buildah makes the places of its own mounts in the first run, and a file in /run in each.
    run('--version')
    const states = () =>
      filesBelow(image.files)
        .filter(({ path }) => !/^run(\/|$)/.test(path))
        .map((file) => JSON.stringify(file))
    const before = states()

    const empty = image.run([program, ...rest], { env })
    assert.equal(empty.code, 2, empty.errors)
    run('migrate')
    run('import', 'fiat-accounts', '/records/fiat-accounts.ndjson')
    const client = run(
      'client',
      'create',
      '--customer',
      'northwind',
      '--name',
      'treasury',
      '--json',
    )
    assert.equal(image.run(check, { env }).code, 1)

    const startedAt = performance.now()
    const server = image.start([program, ...rest], { env })
    t.after(() => killNode(server))
    assert.ok(server.stdout !== null && server.stderr !== null)
    server.stderr.resume()
    const [line] = await once(createInterface(server.stdout), 'line')
    assert.equal(line, `listening on ${url}`)
    const token = await tokenOf(url, JSON.parse(client))
    const page = await callUrl(`${url}/v2/transfer/fiat-accounts`, { token })
    t.diagnostic(`the first page after ${(performance.now() - startedAt).toFixed(0)} ms`)
    assert.deepEqual([page.status, page.body.items?.length], [200, 2], page.text)
    assert.equal((await fetch(`http://127.0.0.1:${operatorPort}/metrics`)).status, 200)
    const healthy = image.run(check, { env })
    assert.deepEqual([healthy.code, healthy.errors], [0, ''])

    killNode(server, 'SIGTERM')
    assert.equal(await codeOf(server), 0)
    assert.equal(image.run(check, { env }).code, 1)
    const after = states()
    const changed = after.filter((state, at) => state !== before[at])
    assert.deepEqual([changed, after.length], [[], before.length])
    const list = "console.log(fs.readdirSync('.').join(' '))"
    const kept = image.run(['/usr/bin/node', '-e', list]).output.trimEnd().split(' ')
    assert.ok(kept.includes('bursar.db') && kept.includes('bursar.master-key'), kept.join())
  })
})

type Created = { readonly client_id: string; readonly client_secret: string }

async function tokenOf(url: string, created: Created): Promise<string> {
  const { status, body } = await callUrl(`${url}/oauth2/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: `grant_type=client_credentials&client_id=${created.client_id}&client_secret=${created.client_secret}`,
  })
  assert.equal(status, 200)
  return body.access_token
}
