import { getOrInsert } from '../../values/get-or-insert.ts'
export type AnyLabels = Readonly<Record<string, string>>

/** One cell for each combination of labels that was seen. */
export type Cells<Cell> = {
  find(labels: AnyLabels): Cell
  all(): readonly Cell[]
}

type Node<Cell> = { readonly below: Map<string, Node<Cell>>; cell: Cell | undefined }

/**
 * Finds cells by the values of their labels, without making a text of these. Only a combination
 * that was not seen before is compared with what is declared.
 */
export function openCells<Cell>(
  labelNames: readonly string[],
  bounded: (labels: AnyLabels) => AnyLabels,
  open: (labels: AnyLabels) => Cell,
): Cells<Cell> {
  const cells: Cell[] = []
  const newNode = (): Node<Cell> => ({ below: new Map(), cell: undefined })
  const root = newNode()
  const add = (labels: AnyLabels): Cell => {
    let node = root
    for (const name of labelNames) {
      node = getOrInsert(node.below, labels[name] ?? '', newNode)
    }
    if (node.cell === undefined) {
      node.cell = open(labels)
      cells.push(node.cell)
    }
    return node.cell
  }
  return {
    find: (labels) => {
      let node: Node<Cell> | undefined = root
      for (const name of labelNames) node = node?.below.get(labels[name] ?? '')
      return node?.cell ?? add(bounded(labels))
    },
    all: () => cells,
  }
}
