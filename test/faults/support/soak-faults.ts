import { connect, type Socket } from 'node:net'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as passing } from 'node:timers/promises'
import type { mountSmallDisk } from './small-disk.ts'
import type { SoakServer } from './soak-server.ts'

/** A fault that begins, lasts and ends. */
export type Fault = {
  readonly name: string
  /** Whether tokens may be refused while it lasts, because clocks differ. */
  readonly changesClock?: true
  /** Resolves when the fault is over. */
  readonly run: () => Promise<void>
}

export type FaultDeps = {
  readonly server: SoakServer
  readonly disk: NonNullable<ReturnType<typeof mountSmallDisk>>
  readonly recordsFile: string
  readonly credentialsFile: string
  readonly importMany: () => Promise<void>
}

export function openFaults(deps: FaultDeps) {
  const { server, disk, recordsFile, credentialsFile, importMany } = deps
  const silent: Socket[] = []
  let closedByServer = 0
  const faults: readonly Fault[] = [
    { name: 'the server is killed', run: async () => server.kill() },
    ...['+2h', '+100d', '-2d'].map((offset) => clockJump(server, offset)),
    { name: 'the records are locked for 5 s', run: () => lock(recordsFile, 5000) },
    { name: 'the credentials are locked for 5 s', run: () => lock(credentialsFile, 5000) },
    {
      name: 'the disk is full for 8 s',
      run: async () => {
        disk.fill()
        await passing(8000)
        disk.makeRoom()
      },
    },
    {
      name: 'the log is not read for 8 s',
      run: async () => {
        const { stderr } = server.program().process
        stderr?.pause()
        await passing(8000)
        stderr?.resume()
      },
    },
    {
      name: '300 connections stay silent',
      run: async () => {
        const { hostname, port } = new URL(server.url)
        for (let opened = 0; opened < 300; opened += 1) {
          const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true })
          socket.on('error', () => {})
          // The peer stays half open, as one that never closes.
          socket.once('end', () => {
            closedByServer += 1
          })
          socket.resume()
          silent.push(socket)
        }
        await passing(1000)
      },
    },
    { name: 'an import of 20,000 records', run: importMany },
  ]
  return {
    faults,
    /** How many silent connections the server has not closed. */
    silentLeft: () => silent.length - closedByServer,
    close: () => {
      for (const socket of silent) socket.destroy()
    },
  }
}

const clockJump = (server: SoakServer, offset: string): Fault => ({
  name: `the clock jumps by ${offset} for 1.5 s`,
  changesClock: true,
  run: async () => {
    server.setClock(offset)
    await passing(1500)
    server.setClock('+0')
  },
})

/** Holds the lock of a writer. Its wait for the lock ends when the server has released it. */
async function lock(file: string, ms: number): Promise<void> {
  const db = new DatabaseSync(file, { timeout: 60_000 })
  db.exec('begin immediate')
  await passing(ms)
  db.exec('rollback')
  db.close()
}
