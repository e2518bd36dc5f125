import { generateKeyPairSync, sign } from 'node:crypto'

/** Signs with ES256 and prints signatures a second. Usage: signatures.ts SECONDS */
const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const data = Buffer.alloc(600, 'x')
const startedAt = performance.now()
const until = startedAt + Number(process.argv[2]) * 1000
let signatures = 0
while (performance.now() < until) {
  sign('sha256', data, { key: privateKey, dsaEncoding: 'ieee-p1363' })
  signatures += 1
}
process.stdout.write(`${(signatures * 1000) / (performance.now() - startedAt)}\n`)
