import { once } from 'node:events'
import { openCredentialsAt } from '../../../../test/support/store-place.ts'

/** Listens for changes twice, closes the store at the first one, and must then exit. */
const store = await openCredentialsAt(process.argv[2] ?? '', 'server')
const heard = new EventTarget()
const stop = store.onChange(() => {})
store.onChange(() => heard.dispatchEvent(new Event('heard')))
await once(heard, 'heard')
stop()
await store.close()
console.log('closed')
