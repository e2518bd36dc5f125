import { NoScreen } from '../parts/states.tsx'
import { Customers } from './customers-screen.tsx'
import { Fees } from './fees-screen.tsx'
import { Find } from './find-screen.tsx'
import { Health } from './health-screen.tsx'
import { Overview } from './overview-screen.tsx'
import { RecordList } from './record-list.tsx'
import { RecordPage } from './record-page.tsx'

type Props = { readonly path: readonly string[]; readonly isStaff: boolean }

/** The screen under a path. Staff start at the overview, a customer's client at Find. */
export function OpenedScreen({ path: [name, kind, id], isStaff }: Props) {
  switch (name) {
    case undefined:
      return isStaff ? <Overview /> : <Find />
    case 'find':
      return <Find />
    case 'customers':
      return isStaff ? <Customers /> : <Find />
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
