import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * The package's own Node, for users of an older one. npm would link a dependency on Node into the
 * `.bin` of its user's project, and every script there would run on it. So npm installs it in a
 * folder of the package instead, when the first command needs it. Every Node since 20 runs this.
 */

/** The npm package with Node for each platform, as `tools/build-package.ts` writes them. */
type NodePackages = Readonly<
  Record<string, { readonly version: string; readonly integrity: string }>
>

export class NoOwnNode extends Error {}

/** The executable. The first call installs it, and says so on stderr. */
export async function ownNode(): Promise<string> {
  const packages: NodePackages = JSON.parse(
    readFileSync(new URL('../../../own-node.json', import.meta.url), 'utf8'),
  )
  const name = packageNames().find((candidate) => packages[candidate] !== undefined)
  const found = name === undefined ? undefined : packages[name]
  if (name === undefined || found === undefined) {
    throw new NoOwnNode(`no package has Node for ${process.platform} on ${process.arch}`)
  }
  const folder = fileURLToPath(new URL('../../../own-node', import.meta.url))
  const file = join(folder, name, 'bin', process.platform === 'win32' ? 'node.exe' : 'node')
  if (!existsSync(file)) {
    process.stderr.write(
      `Bursar does not run on Node ${process.versions.node}. npm installs Node ${found.version} for Bursar alone, in ${folder}; this happens once.\n`,
    )
    await install(name, found, folder)
  }
  return file
}

function packageNames(): readonly string[] {
  const { platform, arch } = process
  const system = platform === 'win32' ? 'win' : platform
  return [`node-${system}-${arch}`, `node-bin-${system}-${arch}`]
}

/** Installs beside the folder and renames, so that commands that start together do not collide. */
async function install(
  name: string,
  { version, integrity }: NodePackages[string],
  folder: string,
): Promise<void> {
  const dependencies = { [name]: version }
  const lock = {
    lockfileVersion: 3,
    packages: { '': { dependencies }, [`node_modules/${name}`]: { version, integrity } },
  }
  let temporary: string | undefined
  try {
    temporary = mkdtempSync(`${folder}-`)
    writeFileSync(join(temporary, 'package.json'), JSON.stringify({ dependencies }))
    writeFileSync(join(temporary, 'package-lock.json'), JSON.stringify(lock))
    await runNpm(temporary)
    renameSync(join(temporary, 'node_modules'), folder)
  } catch (error) {
    // Another command that started together with this one has installed it.
    if (existsSync(join(folder, name))) return
    throw new NoOwnNode(String(error instanceof Error ? error.message : error), { cause: error })
  } finally {
    if (temporary !== undefined) rmSync(temporary, { recursive: true, force: true })
  }
}

async function runNpm(folder: string): Promise<void> {
  const words = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
  const registry = registryOfProject()
  const npm = spawn('npm', [...words, ...(registry ? [`--registry=${registry}`] : [])], {
    cwd: folder,
    env: environmentOfNpm(),
    // stdout belongs to the user's command.
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32',
  })
  await new Promise<void>((resolve, reject) => {
    npm.once('error', reject)
    npm.once('exit', (code, signal) => {
      if (code === 0) resolve()
      else reject(new Error(`npm ended with ${code ?? signal}`))
    })
  })
}

/** The project may name a registry in its own .npmrc, which npm does not read in our folder. */
function registryOfProject(): string | undefined {
  const shell = process.platform === 'win32'
  const asked = spawnSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8', shell })
  const text = asked.stdout?.trim() ?? ''
  return /^https?:\/\/[^\s"&|<>^]+$/.test(text) ? text : undefined
}

/** What npm or npx passed for the project of the user does not hold for our folder. */
function environmentOfNpm(): NodeJS.ProcessEnv {
  const ofProject =
    /^npm_(config_(workspaces?|include_workspace_root|local_prefix|prefix|global|location|package|call|omit|include|dry_run|package_lock_only|install_strategy)$|package_|lifecycle_|command$)/i
  return Object.fromEntries(
    Object.entries(process.env).filter(([variable]) => !ofProject.test(variable)),
  )
}
