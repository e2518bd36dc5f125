import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  copyFileSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

/**
 * The steps of a release, which .github/workflows/release.yml calls in this order:
 *
 * - `prepare` compares the tag, packs both packages, and writes their bills of materials and
 *   checksums;
 * - `publish` publishes the packed files, so that what was examined is what npm gets;
 * - `image` builds the image from the packed package;
 * - `push` pushes it to IMAGE_REGISTRY.
 *
 * `--dry-run` does all but the upload.
 */
const root = fileURLToPath(new URL('..', import.meta.url))
const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    out: { type: 'string', default: 'release' },
    'dry-run': { type: 'boolean', default: false },
    /** Passed to tools/build-image.ts. */
    debian: { type: 'string' },
  },
})
const out = resolve(root, options.out)
const isDry = options['dry-run']
const { version } = readJson('package.json')
const packages = [
  { name: 'bursar', source: '', workspace: [] },
  { name: 'bursar-client', source: 'sdk/', workspace: ['--workspace', 'sdk'] },
] as const
const packedFile = (name: string) => join(out, `${name}-${version}.tgz`)
const image = `bursar:${version}`

const steps: Readonly<Record<string, () => void>> = { prepare, publish, image: buildImage, push }
const [step = ''] = positionals
const work = steps[step]
assert(work !== undefined, `name a step: ${Object.keys(steps).join(', ')}`)
work()

function prepare(): void {
  checkVersions()
  rmSync(out, { recursive: true, force: true })
  mkdirSync(out, { recursive: true })
  for (const { name, source, workspace } of packages) {
    run('npm', ['pack', '--silent', ...workspace, '--pack-destination', out])
    writeFileSync(join(out, `${name}-${version}.cdx.json`), billOfMaterials(name, source))
  }
  const sums = globSync('*', { cwd: out })
    .toSorted()
    .map((file) => {
      const digest = createHash('sha256').update(readFileSync(join(out, file)))
      return `${digest.digest('hex')}  ${file}\n`
    })
  writeFileSync(join(out, 'SHA256SUMS'), sums.join(''))
}

/**
 * What the package and the libraries in it are, by the versions of the lock file. `npm sbom` omits
 * some libraries with `--omit=dev` and names a folder, so it gets a folder without the others.
 */
function billOfMaterials(name: string, source: string): string {
  const folder = join(mkdtempSync(join(tmpdir(), 'bursar-bill-')), name)
  mkdirSync(folder)
  const { devDependencies, workspaces, scripts, ...manifest } = readJson(`${source}package.json`)
  // The build takes libraries of this workspace into the program too.
  const more = source === '' ? readJson('runtime/package.json').dependencies : {}
  const dependencies = { ...manifest.dependencies, ...more }
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ ...manifest, dependencies }))
  copyFileSync(join(root, 'package-lock.json'), join(folder, 'package-lock.json'))
  const npm = (...words: readonly string[]): string =>
    execFileSync('npm', [...words, '--package-lock-only'], { cwd: folder, encoding: 'utf8' })
  try {
    npm('install', '--ignore-scripts', '--silent')
    return npm('sbom', '--sbom-format=cyclonedx', '--sbom-type=application')
  } finally {
    rmSync(dirname(folder), { recursive: true })
  }
}

/** The tag, both packages and the changelog name one version. */
function checkVersions(): void {
  assert.equal(
    readJson('sdk/package.json').version,
    version,
    'sdk/package.json has another version',
  )
  const [heading = ''] = /^## .*$/m.exec(readFileSync(join(root, 'CHANGELOG.md'), 'utf8')) ?? []
  assert(heading.startsWith(`## ${version} `), `the changelog begins with ${heading}`)
  if (isDry) return
  assert.match(heading, /\(\d{4}-\d{2}-\d{2}\)$/, 'the entry of the changelog has no date')
  assert.equal(process.env.GITHUB_REF_NAME, `v${version}`, 'the tag has another version')
}

/** npm attests where a package was built, which it can do only in CI. */
function publish(): void {
  const mode = isDry ? '--dry-run' : '--provenance'
  for (const { name } of packages) {
    // `npm run -s` would silence it too, and then nothing would say what was published.
    const loud = ['--loglevel', 'notice']
    run('npm', ['publish', packedFile(name), '--access', 'public', mode, ...loud])
  }
}

function buildImage(): void {
  const debian = options.debian === undefined ? [] : ['--debian', options.debian]
  const words = ['--package', packedFile('bursar'), '--tag', image, ...debian]
  run(process.execPath, ['tools/build-image.ts', ...words])
}

/** The digest of what was pushed is written beside the packages, for the attestation. */
function push(): void {
  const registry = process.env.IMAGE_REGISTRY ?? ''
  assert(registry !== '', 'set IMAGE_REGISTRY to the registry and its folder')
  const file = join(out, `bursar-image-${version}.tar`)
  const target = isDry ? `docker-archive:${file}` : `docker://${registry}/${image}`
  const digest = join(out, `bursar-image-${version}.digest`)
  run('buildah', ['push', '--format', 'v2s2', '--digestfile', digest, image, target])
}

type Manifest = {
  readonly version: string
  readonly dependencies?: object
  readonly devDependencies?: object
  readonly workspaces?: readonly string[]
  readonly scripts?: object
}

function readJson(file: string): Manifest {
  return JSON.parse(readFileSync(join(root, file), 'utf8'))
}

function run(command: string, words: readonly string[]): void {
  execFileSync(command, words, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] })
}
