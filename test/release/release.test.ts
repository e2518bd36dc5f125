import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { parse } from 'yaml'
import { temporaryFolder } from '../support/harness.ts'
import { whilePacking } from '../support/while-packing.ts'

/** The steps of release.yml up to the upload. image.test.ts has those of the image. */

const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
const folder = temporaryFolder()
after(() => rmSync(folder, { recursive: true, force: true }))

const release = (...words: readonly string[]): string =>
  whilePacking([process.execPath, 'tools/release.ts', ...words, '--dry-run', '--out', folder])

describe('a release', () => {
  before(() => {
    release('prepare')
  })

  test('takes the steps of tools/release.ts in their order, and has the rights that they need', () => {
    const workflow = parse(readFileSync('.github/workflows/release.yml', 'utf8'))
    const steps: readonly { readonly run?: string; readonly env?: object }[] =
      workflow.jobs.release.steps
    const ran = steps.flatMap(({ run }) => run?.match(/^npm (.*)$/m)?.[1] ?? [])
    assert.deepEqual(ran, [
      'ci',
      'run -s release -- prepare',
      'run -s release -- image',
      'run -s release -- publish',
      'run -s release -- push',
    ])
    assert.deepEqual(workflow.on, { push: { tags: ['v*'] } })
    // npm needs the identity of the run for its attestation.
    assert.equal(workflow.permissions['id-token'], 'write')
    const withSecrets = steps.filter(({ env }) => JSON.stringify(env ?? {}).includes('secrets.'))
    assert.equal(withSecrets.length, 2)
  })

  test('has both packages, a bill of materials for each, and checksums', () => {
    const names = ['bursar', 'bursar-client']
    const files = names.flatMap((name) => [`${name}-${version}.cdx.json`, `${name}-${version}.tgz`])
    assert.deepEqual(readdirSync(folder).toSorted(), ['SHA256SUMS', ...files].toSorted())
    for (const line of readFileSync(join(folder, 'SHA256SUMS'), 'utf8').trimEnd().split('\n')) {
      const [digest, file = ''] = line.split('  ')
      const content = readFileSync(join(folder, file))
      assert.equal(createHash('sha256').update(content).digest('hex'), digest, file)
    }
    for (const name of names) {
      const bill = JSON.parse(readFileSync(join(folder, `${name}-${version}.cdx.json`), 'utf8'))
      assert.equal(bill.bomFormat, 'CycloneDX')
      assert.deepEqual(
        [bill.metadata.component.name, bill.metadata.component.version],
        [name, version],
      )
      const manifests = name === 'bursar' ? ['', 'runtime/'] : ['sdk/']
      const wanted = manifests.map(
        (source) => JSON.parse(readFileSync(`${source}package.json`, 'utf8')).dependencies,
      )
      const listed = bill.components.map(({ purl }: { purl: string }) => purl)
      for (const [dependency, pinned] of wanted.flatMap((all) => Object.entries(all ?? {}))) {
        const purl = `pkg:npm/${dependency.replace('@', '%40')}@${pinned}`
        assert.ok(listed.includes(purl), `${name} names ${purl}`)
      }
      assert.ok(!listed.some((purl: string) => purl.includes('/typescript@')), name)
    }
  })

  test('would publish both packages for everybody', () => {
    const published = release('publish').match(/^\+ .*$/gm)
    assert.deepEqual(published, [`+ bursar@${version}`, `+ bursar-client@${version}`])
  })

  test('refuses a tag of another version, and a changelog without a date', () => {
    const words = [process.execPath, 'tools/release.ts', 'prepare', '--out', folder]
    const env = { ...process.env, GITHUB_REF_NAME: 'v9.9.9' }
    assert.throws(
      () => whilePacking(words, process.cwd(), env),
      /the entry of the changelog has no date|the tag has another version/,
    )
  })
})
