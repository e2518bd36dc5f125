import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { globSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { temporaryFolder } from '../../support/harness.ts'
import { killWithUs } from '../../support/kill-with-us.ts'
import { whilePacking } from '../../support/while-packing.ts'

/**
 * The image, built by buildah over Debian as debootstrap makes it, so no registry of images is
 * needed. Commands run in a chroot, as the image's user and without capabilities. A chroot has no
 * namespaces, no read-only root and no engine that runs the health check.
 */
export type ContainerImage = {
  /** The files of a container, in which every command runs. */
  readonly files: string
  /** The image's configuration, as `docker inspect` names its members. */
  readonly config: ImageConfig
  /** The archive that stands for the registry in a release that uploads nothing. */
  readonly archive: string
  run(words: readonly string[], options?: RunOptions): Ran
  start(words: readonly string[], options?: RunOptions): ChildProcess
  remove(): void
}

export type ImageConfig = {
  readonly User: string
  readonly WorkingDir: string
  readonly Entrypoint: readonly string[]
  readonly Cmd: readonly string[]
  readonly Env: readonly string[]
  readonly Volumes: Readonly<Record<string, object>>
  readonly Labels: Readonly<Record<string, string>>
  readonly Healthcheck: { readonly Test: readonly string[] }
}

type RunOptions = { readonly env?: Readonly<Record<string, string>> }
type Ran = { readonly code: number | null; readonly output: string; readonly errors: string }

/** Without these programs and root there is no image. */
export const canBuildImages = (): boolean =>
  process.getuid?.() === 0 &&
  ['buildah', 'debootstrap'].every((program) => spawnSync('which', [program]).status === 0)

/**
 * `records` are read-only at /records. buildah keeps the image's volume with the container, as an
 * engine keeps one that nobody names.
 */
export function buildImage(records: string): ContainerImage {
  const folder = temporaryFolder()
  const configuration = join(folder, 'storage.conf')
  writeFileSync(
    configuration,
    `[storage]\ndriver = "overlay"\ngraphroot = "${folder}/images"\nrunroot = "${folder}/run"\n`,
  )
  const env = {
    ...process.env,
    CONTAINERS_STORAGE_CONF: configuration,
    BUILDAH_ISOLATION: 'chroot',
    TMPDIR: folder,
  }
  const buildah = (...words: readonly string[]): string =>
    execFileSync('buildah', words, { env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
  const debian = join(folder, 'debian')
  const [, suite = ''] =
    /^ARG DEBIAN=debian:(\w+)/m.exec(readFileSync('Containerfile', 'utf8')) ?? []
  execFileSync('debootstrap', ['--variant=minbase', suite, debian], { stdio: 'pipe' })
  const base = buildah('from', 'scratch').trim()
  buildah('copy', '--quiet', base, debian, '/')
  buildah('commit', '--quiet', '--rm', base, 'localhost/debian')
  rmSync(debian, { recursive: true })
  // The steps of a release, up to the upload.
  const release = (...words: readonly string[]): string => {
    const tool = [process.execPath, 'tools/release.ts', ...words]
    const dry = ['--dry-run', '--out', join(folder, 'release')]
    return whilePacking([...tool, ...dry], process.cwd(), { ...env, IMAGE_REGISTRY: 'REGISTRY' })
  }
  release('prepare')
  release('image', '--debian', 'localhost/debian')
  release('push')
  const image = `localhost/bursar:${JSON.parse(readFileSync('package.json', 'utf8')).version}`
  const container = buildah('from', image).trim()
  const mount = `${records}:/records:ro`
  const commandOf = (words: readonly string[], options: RunOptions): string[] => {
    const variables = Object.entries(options.env ?? {}).flatMap(([name, value]) => [
      '--env',
      `${name}=${value}`,
    ])
    return ['run', '--volume', mount, ...variables, container, '--', ...words]
  }
  return {
    files: buildah('mount', container).trim(),
    archive: globSync(join(folder, 'release', 'bursar-image-*.tar'))[0] ?? '',
    config: JSON.parse(buildah('inspect', '--type', 'image', image)).Docker.config,
    run(words, options = {}) {
      const ran = spawnSync('buildah', commandOf(words, options), { env, encoding: 'utf8' })
      return { code: ran.status, output: ran.stdout, errors: ran.stderr }
    },
    start(words, options = {}) {
      const child = spawn('buildah', commandOf(words, options), {
        env,
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      killWithUs(child)
      return child
    },
    remove() {
      buildah('umount', '--all')
      buildah('rm', '--all')
      // The store itself is a mount, which keeps its folder.
      spawnSync('umount', ['--lazy', join(folder, 'images', 'overlay')])
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** buildah kills its command at every signal, so tests send theirs to the Node that it runs. */
export function killNode(child: ChildProcess, signal: NodeJS.Signals = 'SIGKILL'): void {
  for (const pid of descendants(child.pid ?? 0)) {
    if (nameOf(pid) === 'node') process.kill(pid, signal)
  }
}

function descendants(pid: number): number[] {
  const lists = globSync(`/proc/${pid}/task/*/children`).map((path) => readFileSync(path, 'utf8'))
  const children = lists.flatMap((list) => list.split(' ').filter(Boolean).map(Number))
  return children.flatMap((child) => [child, ...descendants(child)])
}

const nameOf = (pid: number): string =>
  basename(readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')[0] ?? '')

/** The exit code of a command that ends by itself. */
export async function codeOf(child: ChildProcess): Promise<number | null> {
  if (child.exitCode === null) await once(child, 'exit')
  return child.exitCode
}

export type ImageFile = {
  readonly path: string
  readonly isFolder: boolean
  readonly mode: number
  readonly owner: string
  readonly size: number
  readonly changedMs: number
}

/** Every entry below a folder, without what links lead to. */
export const filesBelow = (folder: string): ImageFile[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((path) => {
    const { mode, uid, gid, size, mtimeMs, ctimeMs } = statSync(join(folder, path))
    const isFolder = (mode & 0o170000) === 0o040000
    return {
      path,
      isFolder,
      mode: mode & 0o7777,
      owner: `${uid}:${gid}`,
      size: isFolder ? 0 : size,
      changedMs: Math.max(mtimeMs, ctimeMs),
    }
  })
