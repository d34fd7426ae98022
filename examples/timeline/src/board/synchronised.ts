/** A data set of the chart that is told of what has changed, and of nothing else. */

import { DataSet } from "vis-data/esnext"

export class Synchronised<Item extends { id: string }> {
  readonly set = new DataSet<Item>()
  private known = new Map<string, string>()

  /** Makes the set hold these items. */
  hold(items: readonly Item[]): void {
    const wanted = new Map(items.map((item) => [item.id, JSON.stringify(item)]))
    const gone = [...this.known.keys()].filter((id) => !wanted.has(id))
    const changed = items.filter(({ id }) => this.known.get(id) !== wanted.get(id))
    if (gone.length) this.set.remove(gone)
    if (changed.length) this.set.update(changed as never)
    this.known = wanted
  }
}
