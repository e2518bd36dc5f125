import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'

/** The sockets of a process, by the numbers that the system gives them. */
export function socketsOf(pid: number): readonly string[] {
  const folder = `/proc/${pid}/fd`
  return readdirSync(folder).flatMap((name) => {
    try {
      return /^socket:\[(\d+)\]$/.exec(readlinkSync(join(folder, name)))?.[1] ?? []
    } catch {
      // It was closed meanwhile.
      return []
    }
  })
}

/** The ports on which a process accepts IPv4 connections. */
export function listeningPorts(pid: number): readonly number[] {
  const own = new Set(socketsOf(pid))
  const [, ...lines] = readFileSync(`/proc/${pid}/net/tcp`, 'utf8').trim().split('\n')
  return lines.flatMap((line) => {
    const [, local = '', , state, , , , , , socket = ''] = line.trim().split(/\s+/)
    const isListening = state === '0A' && own.has(socket)
    return isListening ? [Number.parseInt(local.split(':')[1] ?? '', 16)] : []
  })
}
