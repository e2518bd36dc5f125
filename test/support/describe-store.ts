import { after, before, beforeEach } from 'node:test'
import { openTestStore, type TestStore } from './record-store.ts'

/** The store of a file's tests, which is empty before each of them. */
export function describeStore(): TestStore {
  let opened: TestStore | undefined
  const running = (): TestStore => {
    if (opened === undefined) throw new Error('the store is open in tests and hooks only')
    return opened
  }
  before(async () => {
    opened = await openTestStore()
  })
  beforeEach(async () => {
    await running().store.operator.clear()
    await running().ask('delete from bursar.customer')
  })
  after(() => opened?.close())
  return {
    get store() {
      return running().store
    },
    take: (...taken) => running().take(...taken),
    exported: (kind) => running().exported(kind),
    opened: (sealing) => running().opened(sealing),
    history: (id) => running().history(id),
    ask: (sql) => running().ask(sql),
    close: () => running().close(),
  }
}
