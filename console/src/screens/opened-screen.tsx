import { NoScreen } from '../parts/states.tsx'
import { Fees } from './fees-screen.tsx'
import { Health } from './health-screen.tsx'
import { RecordList } from './record-list.tsx'
import { RecordPage } from './record-page.tsx'

/** Every screen but the first. */
export function OpenedScreen({ path: [name, kind, id] }: { readonly path: readonly string[] }) {
  switch (name) {
    case 'list':
      return <RecordList key={kind} />
    case 'record':
      return <RecordPage key={`${kind} ${id}`} />
    case 'fees':
      return <Fees />
    case 'health':
      return <Health />
    default:
      return <NoScreen>There is no such screen.</NoScreen>
  }
}
