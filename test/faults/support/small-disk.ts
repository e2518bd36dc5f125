import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type PostgresServer, runAs } from '../../support/postgres-server.ts'

/** A place for a database, whose free space can be used up and freed again. */
export type SmallDisk = {
  /** The parent of the database's folder. Undefined means any. */
  readonly folder: string | undefined
  readonly kind: 'a small file system' | 'a limit on the size of files'
  /** Imports of so many records do not fit once the disk is filled. */
  readonly tooMany: readonly number[]
  /** Leaves little free space. */
  fill(server: PostgresServer): void
  makeRoom(server: PostgresServer): void
  remove(): void
}

/** Mounts a file system in memory if the user may, else limits the size of the server's files. */
export const openSmallDisk = (): SmallDisk => mountSmallDisk() ?? fileSizeLimit

/** A file system in memory. Undefined if the user may not mount one. */
export function mountSmallDisk() {
  const folder = mkdtempSync(join(tmpdir(), 'bursar-disk-'))
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=160m,mode=777', 'tmpfs', folder], {
      stdio: 'pipe',
    })
  } catch {
    rmdirSync(folder)
    return undefined
  }
  const ballast = join(folder, 'ballast')
  return {
    folder,
    kind: 'a small file system' as const,
    // The small import is sent completely before the server runs out of space.
    tooMany: [8000, 400],
    fill: () => {
      const { bavail, bsize } = statfsSync(folder)
      writeFileSync(ballast, Buffer.alloc(Math.max(0, bavail * bsize - LEFT_BYTES)))
    },
    makeRoom: () => rmSync(ballast, { force: true }),
    remove: () => {
      execFileSync('umount', ['-l', folder], { stdio: 'pipe' })
      rmdirSync(folder)
    },
  }
}

/** Enough for a small transaction, too little for the file that is imported. */
const LEFT_BYTES = 128 * 1024

/**
 * New sessions can write no file larger than this, as if the disk were full. A file of the log has
 * 16 MiB, which must stay possible.
 */
const fileSizeLimit: SmallDisk = {
  folder: undefined,
  kind: 'a limit on the size of files',
  tooMany: [30_000],
  fill: ({ process }) => limitFiles(process.pid, `${17 * 1024 * 1024}:unlimited`),
  makeRoom: ({ process }) => limitFiles(process.pid, 'unlimited:unlimited'),
  remove: () => {},
}

const limitFiles = (pid: number | undefined, limit: string) =>
  execFileSync('prlimit', ['--pid', String(pid), `--fsize=${limit}`], { ...runAs, stdio: 'pipe' })
