/** Labels within what is seen of their bars: the chart puts a label at the left edge of the view, but lets it
 * be cut where its bar ends. */

/** Narrower than this, in pixels, a bar shows no label: an ellipsis would be most of it. */
const NARROWEST = 40

/** Gives each label the room that is seen of its bar; the style sheet ends it with an ellipsis there. */
export function fitLabels(root: HTMLElement): void {
  const view = root.querySelector(".vis-panel.vis-center")?.getBoundingClientRect()
  if (!view) return
  const bars = [...root.querySelectorAll<HTMLElement>(".vis-item.bar")]
  // All are measured before any is changed: the browser lays the page out once.
  const rooms = bars.map((bar) => {
    const { left, right } = bar.getBoundingClientRect()
    return Math.max(0, Math.floor(Math.min(right, view.right) - Math.max(left, view.left)))
  })
  bars.forEach((bar, index) => {
    const label = bar.querySelector<HTMLElement>(".vis-item-content")
    const room = rooms[index] ?? 0
    if (label) label.style.maxWidth = `${room}px`
    bar.classList.toggle("narrow", room < NARROWEST)
  })
}
