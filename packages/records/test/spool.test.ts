import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, test } from 'node:test'
import { limitNamed } from '@bursar/base'
import { openSpools, type Spool } from '../src/spool.ts'

let folder: string
beforeEach(() => {
  folder = join(mkdtempSync(join(tmpdir(), 'bursar-spool-')), 'made')
})
afterEach(() => rmSync(join(folder, '..'), { recursive: true, force: true }))

const LINE = `${'é'.repeat(1023)}\n`
const PIECES = 3

async function fill(spool: Spool, pieces = PIECES): Promise<string> {
  const lines = (pieces * limitNamed('spoolPieceBytes')) / LINE.length
  for (let line = 0; line < lines; line += 1) await spool.write(LINE)
  await spool.write('last')
  return `${LINE.repeat(lines)}last`
}

async function contentOf(spool: Spool): Promise<string> {
  const pieces: Uint8Array[] = []
  for await (const piece of spool.read()) pieces.push(piece)
  return Buffer.concat(pieces).toString('utf8')
}

test('a spool returns what was written, more than once, and its file is for its user alone', async () => {
  const spool = openSpools({ folder, bytesMax: 1e9 }).open()
  const written = await fill(spool)
  assert.equal(await contentOf(spool), written)
  assert.equal(await contentOf(spool), written)
  const [name = ''] = readdirSync(folder)
  assert.equal(statSync(join(folder, name)).mode & 0o777, 0o600)
  assert.equal(statSync(folder).mode & 0o777, 0o700)
  await spool.close()
  assert.deepEqual(readdirSync(folder), [])
})

test('a short spool needs no file', async () => {
  const spool = openSpools({ folder, bytesMax: 1e9 }).open()
  assert.equal(spool.isEmpty(), true)
  await spool.write(LINE)
  assert.equal(spool.isEmpty(), false)
  assert.equal(await contentOf(spool), LINE)
  await spool.close()
  assert.deepEqual(readdirSync(join(folder, '..')), [])
})

test('the spools of a folder have a limit together', async () => {
  const bytesMax = 3 * PIECES * limitNamed('spoolPieceBytes')
  const spools = openSpools({ folder, bytesMax })
  const [first, second] = [spools.open(), openSpools({ folder, bytesMax }).open()]
  await fill(first)
  const tooMuch = async () => {
    await fill(second)
    await contentOf(second)
  }
  await assert.rejects(tooMuch, (error: Error) => {
    assert.equal(error.name, 'StoreUnavailable')
    assert.match(error.message, /raise BURSAR_SPOOL_MEGABYTES_MAX, or wait for the others$/)
    return true
  })
  await first.close()
  await second.close()
  assert.deepEqual(readdirSync(folder), [])
})

test('the file of a killed process goes at the next start, that of a live one stays', async () => {
  const program = `
    const { openSpools } = await import(${JSON.stringify(import.meta.resolve('../src/spool.ts'))})
    const spool = openSpools({ folder: ${JSON.stringify(folder)}, bytesMax: 1e9 }).open()
    await spool.write('x'.repeat(${limitNamed('spoolPieceBytes')}))
    for await (const piece of spool.read()) break
    console.log('written')
    process.stdin.resume()`
  const child = spawn(process.execPath, ['--input-type=module', '-e', program])
  await once(child.stdout, 'data')
  const open = () => openSpools({ folder, bytesMax: 1e9 })
  const own = open().open()
  await fill(own)
  writeFileSync(join(folder, 'notes.txt'), 'of somebody else')
  open()
  assert.equal(readdirSync(folder).length, 3)
  child.kill('SIGKILL')
  await once(child, 'exit')
  open()
  const left = readdirSync(folder)
  assert.equal(left.length, 2)
  assert.ok(left.some((name) => name.startsWith(`${process.pid}-`)))
  await own.close()
  assert.deepEqual(readdirSync(folder), ['notes.txt'])
})
